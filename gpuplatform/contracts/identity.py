"""Who acts without being a person, on every cloud: pods of a team, and the jobs that deploy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from gpuplatform.catalog import Cloud
from gpuplatform.component import Component
from gpuplatform.tags import Tags
from gpuplatform.trust import Trust

__all__ = [
    "CiIdentityArgs",
    "CiIdentityComponent",
    "IdentityHandle",
    "WorkloadIdentityArgs",
    "WorkloadIdentityComponent",
]


@dataclass(frozen=True, kw_only=True)
class IdentityHandle:
    """Who the pods of one service account are towards their cloud.

    Attributes:
        cloud: Which cloud it is on.
        namespace: The service account's namespace.
        service_account: The service account's name.
        principal: Whom the cloud's grants name: role ARN (AWS), client ID (Azure), principal (GCP).
        annotations: What the service account must carry.
        pod_labels: What its pods must carry.
        ready: The grants: a pod started before them is turned away.
    """

    cloud: Cloud
    namespace: str
    service_account: str
    principal: pulumi.Output[str]
    annotations: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    pod_labels: Mapping[str, str] = field(default_factory=dict)
    ready: Sequence[pulumi.Resource] = ()


@dataclass(frozen=True, kw_only=True)
class WorkloadIdentityArgs:
    """What the identity of a service account's pods is made of, on every cloud.

    Attributes:
        name: Prefix of every physical name, such as `vision-prod`.
        region: The cloud's own name of the region.
        namespace: The service account's namespace, a team's.
        service_account: The service account's name.
        tags: Tags of every resource that takes some.
    """

    name: str
    region: str
    namespace: str
    service_account: str
    tags: Tags


class WorkloadIdentityComponent(Component):
    """Who the pods of one service account are, whatever the cloud.

    Outputs:
        principal: Whom the cloud's grants name.

    Attributes:
        handle: The identity for the layers that don't know the cloud.
    """

    principal: pulumi.Output[str]
    handle: IdentityHandle

    def finish_identity(self, handle: IdentityHandle, **outputs: Any) -> None:
        """Sets handle and outputs, and registers the outputs, with what else the cloud's identity gives."""
        self.handle = handle
        self.principal = handle.principal
        self.finish(principal=handle.principal, **outputs)


@dataclass(frozen=True, kw_only=True)
class CiIdentityArgs:
    """What the identities of a repository's workflows are made of, on every cloud.

    Attributes:
        name: Prefix of every physical name, such as `vision-prod`.
        region: The cloud's own name of the region.
        trust: Whose tokens are trusted: `gpuplatform.trust.trust`.
        tags: Tags of every resource that takes some.
    """

    name: str
    region: str
    trust: Trust
    tags: Tags


class CiIdentityComponent(Component):
    """The two identities of a repository's workflows: one that looks, one that deploys.

    Outputs:
        preview: Whom a pull request's job acts as: role ARN (AWS), client ID (Azure), service account (GCP).
        deploy: Whom a job of a named environment acts as, likewise.
        variables: What the repository's variables must say for the workflow to find them: text by name.
    """

    preview: pulumi.Output[str]
    deploy: pulumi.Output[str]
    variables: pulumi.Output[dict[str, str]]

    def finish_ci(
        self,
        *,
        preview: pulumi.Output[str],
        deploy: pulumi.Output[str],
        variables: pulumi.Output[dict[str, str]],
        **outputs: Any,
    ) -> None:
        """Sets the outputs and registers them, with what else the cloud's identities give."""
        self.preview = preview
        self.deploy = deploy
        self.variables = variables
        self.finish(preview=preview, deploy=deploy, variables=variables, **outputs)
