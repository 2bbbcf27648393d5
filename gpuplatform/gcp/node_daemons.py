"""Google's DaemonSets on the nodes of GPU pools, as a component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from gpuplatform.component import Component
from gpuplatform.contracts import ClusterHandle
from gpuplatform.kubernetes import KubernetesObject
from gpuplatform.profile import NodeProfile
from gpuplatform.profile.gcp import node_daemons

__all__ = ["GkeNodeDaemons", "GkeNodeDaemonsArgs"]


@dataclass(frozen=True, kw_only=True)
class GkeNodeDaemonsArgs:
    """What a `GkeNodeDaemons` is made of.

    Attributes:
        cluster: The cluster.
        profiles: Its pools.
    """

    cluster: ClusterHandle
    profiles: Sequence[NodeProfile]


class GkeNodeDaemons(Component):
    """What `gpuplatform.profile.gcp.node_daemons` decides: NCCL plugins, device injector, driver installers.

    They exist before the pools, so that a pool's first node has them at once.

    Outputs:
        names: The DaemonSets' names.

    Attributes:
        daemons: The DaemonSets themselves.
    """

    TOKEN = "gpuplatform:index:GkeNodeDaemons"  # noqa: S105 - a type token, no secret

    names: list[str]
    daemons: tuple[pulumi.Resource, ...]

    def __init__(
        self, name: str, args: GkeNodeDaemonsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        cluster = args.cluster
        manifests = node_daemons(args.profiles)
        self.names = [manifest["metadata"]["name"] for manifest in manifests]
        self.daemons = tuple(
            KubernetesObject(
                f"{name}-{manifest['metadata']['name']}",
                manifest["apiVersion"],
                manifest["kind"],
                {key: manifest[key] for key in ("metadata", "spec")},
                self.child(
                    provider=cluster.provider, deleted_with=cluster.cluster, depends_on=list(cluster.ready)
                ),
            )
            for manifest in manifests
        )
        self.finish(names=self.names)
