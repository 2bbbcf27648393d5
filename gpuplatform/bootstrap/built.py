"""What each cloud's bootstrap gives back to the program that called it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pulumi

from gpuplatform.config import Platform
from gpuplatform.contracts import CiIdentityComponent, StateStoreComponent
from gpuplatform.tags import Tags

__all__ = ["Built", "lasting_tags"]


@dataclass(frozen=True, kw_only=True)
class Built:
    """The components, and who deploys and who looks.

    Attributes:
        state: Where the state is kept.
        ci: Who a repository's workflows are.
        admin: Whom `cluster.admins` must name so that deployments reach the cluster, or on Azure who must
            join a group that it names.
        viewer: Whom `cluster.viewers` must name so that previews see the cluster, or on Azure likewise.
    """

    state: StateStoreComponent
    ci: CiIdentityComponent
    admin: pulumi.Output[str]
    viewer: pulumi.Output[str]


def lasting_tags(config: Platform) -> Tags:
    """The environment's tags without its expiry: its state and identities outlive it, to build it again."""
    return replace(config.tags, expires=None)
