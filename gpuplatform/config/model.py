"""What a user may write: the value of `gpuplatform:platform`, checked as a whole before anything is built."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from gpuplatform.config.base import At, Model
from gpuplatform.config.blocks import private_problem, public_problem
from gpuplatform.config.clouds import Aws, Azure, Cloud, Gcp, admin_problem
from gpuplatform.config.identity import Identity
from gpuplatform.config.layout import (
    AZURE_RESERVED_CIDRS,
    AwsLayout,
    AzureLayout,
    GcpLayout,
    TooSmall,
    aws_layout,
    azure_layout,
    gcp_layout,
)
from gpuplatform.config.limits import Budget, Guardrails, budget_problem
from gpuplatform.config.pools import NodePool, SystemPool
from gpuplatform.config.storage import SharedFilesystem, Storage, TierName, storage_problems
from gpuplatform.config.teams import Team, team_problems
from gpuplatform.config.uptime import UptimeText
from gpuplatform.config.values import EMAIL, Cidr, Day
from gpuplatform.tags import Tags

__all__ = ["ApiAccess", "Cluster", "Network", "Platform", "WorkloadClass"]


class Network(Model):
    """The environment's own network."""

    cidr: Annotated[
        Cidr,
        Field(
            description="A block of 10/8, 172.16/12 or 192.168/16 (AWS and GCP: or 100.64/10), "
            "/8 to /28 (AWS: /16 to /28)."
        ),
    ]
    zones: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            max_length=6,
            description="AWS: zone IDs (use1-az4) or an account's own zone names (us-east-1a); "
            "Azure: 1, 2, 3; GCP: such as us-central1-a.",
        ),
    ]


class ApiAccess(Model):
    """Who reaches the Kubernetes API."""

    private: Annotated[bool, Field(description="An endpoint inside the network.")] = True
    public_cidrs: Annotated[
        tuple[Cidr, ...],
        Field(description="Public blocks that reach it from outside; nobody does where it is empty."),
    ] = ()

    @model_validator(mode="after")
    def _reachable_and_closed(self) -> Self:
        if not self.private and not self.public_cidrs:
            raise ValueError("private is false and public_cidrs is empty: nobody could reach the API")
        if (found := public_problem(self.public_cidrs)) is not None:
            raise At("public_cidrs", found)
        return self


class Cluster(Model):
    """The Kubernetes cluster."""

    kubernetes_version: Annotated[
        str, Field(description='A quoted minor, such as "1.35".', pattern=r"^1\.\d{2}$")
    ]
    api_access: ApiAccess = ApiAccess()
    admins: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            description="Cluster administrators. AWS: IAM role or user ARNs; Azure: object IDs of Entra "
            "groups; GCP: members such as group:platform@example.com.",
        ),
    ]
    viewers: Annotated[
        tuple[str, ...],
        Field(
            description="Who may look at the cluster, but for Secrets, and change nothing: the preview "
            "identity of CI. Named as in admins.",
        ),
    ] = ()
    support: Annotated[
        Literal["standard", "extended"],
        Field(
            description="extended buys a longer life of the Kubernetes minor at a higher control-plane price."
        ),
    ] = "standard"
    system: SystemPool = SystemPool()


class WorkloadClass(Model):
    """Pools that serve one kind of work, in their order; the next where one's maximum is used up."""

    name: Annotated[
        str,
        Field(
            description="2 to 32 lower-case letters, digits and hyphens, starting with a letter and not "
            "ending with a hyphen.",
            pattern=r"^[a-z][a-z0-9-]{0,30}[a-z0-9]$",
        ),
    ]
    pools: Annotated[
        tuple[str, ...], Field(min_length=1, description="Names of pools, in the order of preference.")
    ]


_ZONE_RULES: dict[str, tuple[str, str]] = {
    "aws": (r"[a-z]{2}(-[a-z]+)+-\d[a-z]|[a-z]+\d-az\d+", "a zone ID (use1-az4) or a zone name (us-east-1a)"),
    "azure": (r"[1-3]", '"1", "2" or "3"'),
    "gcp": (r"[a-z]+-[a-z]+\d+-[a-z]", "a zone such as us-central1-a"),
}


# The characters that every AWS service takes in a tag (https://docs.aws.amazon.com/tag-editor/latest/userguide/
# best-practices-and-strats.html); 63 of them are a GCP label's value.
_TAG: Final = r"^[\w .:/=+@-]{1,63}$"
_TAG_RULE: Final = "1 to 63 letters, digits, spaces and . _ : / = + @ -"


class Platform(Model):
    """One environment: a cluster, its pools, and the limits that hold for both."""

    name: Annotated[
        str,
        Field(
            description="The platform, which with the environment prefixes every physical name: 2 to 20 "
            "lower-case letters, digits and hyphens, starting with a letter and not ending with a hyphen.",
            pattern=r"^[a-z][a-z0-9-]{0,18}[a-z0-9]$",
        ),
    ]
    environment: Annotated[
        str,
        Field(
            description="Such as dev or prod: 2 to 12 lower-case letters and digits, starting with a letter.",
            pattern=r"^[a-z][a-z0-9]{1,11}$",
        ),
    ]
    owner: Annotated[
        str,
        Field(
            # A tag's value has 256 characters at most on AWS and Azure; 128 are enough for an address.
            max_length=128,
            description="Whom to write to: an e-mail address of at most 128 characters, of letters, digits "
            "and . _ + - beside the @.",
            pattern=EMAIL,
        ),
    ]
    cost_center: Annotated[str, Field(pattern=_TAG, description=f"A quoted text: {_TAG_RULE}.")]
    project: Annotated[str | None, Field(pattern=_TAG, description=f"`name` if left out; {_TAG_RULE}.")] = (
        None
    )
    team: Annotated[str | None, Field(pattern=_TAG, description=f"`name` if left out; {_TAG_RULE}.")] = None
    expires: Annotated[Day | None, Field(description="The day after which the environment may go.")] = None
    experiment: Annotated[
        str | None, Field(pattern=_TAG, description=f"The experiment it serves: {_TAG_RULE}.")
    ] = None
    protect: Annotated[
        bool | None,
        Field(
            description="Protect what holds data from deletion; true in prod, false elsewhere if left out."
        ),
    ] = None
    cloud: Cloud
    network: Network
    cluster: Cluster
    node_pools: Annotated[tuple[NodePool, ...], Field(min_length=1, max_length=500)]
    workload_classes: Annotated[
        tuple[WorkloadClass, ...], Field(description="Which pools serve which work, in which order.")
    ] = ()
    storage: Annotated[
        dict[TierName, Storage],
        Field(default_factory=dict, max_length=20, description="Storage tiers by their names; 20 at most."),
    ]
    teams: Annotated[
        tuple[Team, ...], Field(max_length=200, description="Who shares the cluster; 200 teams at most.")
    ] = ()
    identity: Annotated[
        Identity | None, Field(description="Who deploys; built by `gpuplatform bootstrap`.")
    ] = None
    budget: Budget | None = None
    uptime: Annotated[
        UptimeText | None,
        Field(
            description="When the environment is up, such as weekdays 08:00-19:00 Europe/Berlin; always if "
            "left out. Its own teardown keeps the storage."
        ),
    ] = None
    guardrails: Guardrails = Guardrails()
    prices: Annotated[
        str | None,
        Field(
            min_length=1,
            description="A file of the stack's own prices and offerings, relative to the stack's file.",
        ),
    ] = None

    @model_validator(mode="after")
    def _one_name_a_pool(self) -> Self:
        names = [pool.name for pool in self.node_pools]
        if twice := sorted(
            {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()
        ):
            raise At("node_pools", f"the name {', '.join(twice)} is used twice; a pool's name is its own")
        if "system" in names:
            raise At("node_pools", "the name system belongs to the pool that the cluster brings")
        return self

    @model_validator(mode="after")
    def _classes_name_pools(self) -> Self:
        pools = {pool.name for pool in self.node_pools}
        names = [one.name for one in self.workload_classes]
        for index, one in enumerate(self.workload_classes):
            if names.count(one.name) > 1:
                raise At(f"workload_classes[{index}].name", f"the name {one.name} is used twice")
            if stray := [pool for pool in one.pools if pool not in pools]:
                raise At(f"workload_classes[{index}].pools", f"there is no pool {', '.join(stray)}")
            if len(set(one.pools)) < len(one.pools):
                raise At(f"workload_classes[{index}].pools", "a pool is named twice")
        return self

    @field_validator("storage")
    @classmethod
    def _in_one_order(cls, storage: dict[str, Storage]) -> dict[str, Storage]:
        """By name, as the engine hands a mapping over whatever its order in the file: plans must agree."""
        return dict(sorted(storage.items()))

    @model_validator(mode="after")
    def _storage_as_named(self) -> Self:
        found = [
            *storage_problems(self.storage, self.network.zones),
            *team_problems(self.teams, self.storage),
        ]
        for path, why in found:
            raise At(path, why)
        return self

    @model_validator(mode="after")
    def _principals(self) -> Self:
        for key, named in (("admins", self.cluster.admins), ("viewers", self.cluster.viewers)):
            for index, one in enumerate(named):
                if (why := admin_problem(self.cloud.provider, one)) is not None:
                    raise At(f"cluster.{key}[{index}]", why)
                if one in named[:index]:
                    raise At(f"cluster.{key}[{index}]", f"{one} is named twice")
        for index, viewer in enumerate(self.cluster.viewers):
            if viewer in self.cluster.admins:
                raise At(f"cluster.viewers[{index}]", f"{viewer} is in cluster.admins already")
        return self

    @model_validator(mode="after")
    def _cloud_shapes(self) -> Self:
        provider = self.cloud.provider
        pattern, rule = _ZONE_RULES[provider]
        for path, zones in self._zone_lists():
            for index, zone in enumerate(zones):
                if not re.fullmatch(pattern, zone):
                    raise At(f"{path}[{index}]", f"{zone!r} is not {rule}")
            if len(set(zones)) < len(zones):
                raise At(path, "a zone is named twice")
        if provider == "aws" and len(self.network.zones) == 1:
            # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
            raise At(
                "network.zones", "EKS wants subnets in two zones; a pool stays in one by its own `zones`"
            )
        for index, pool in enumerate(self.node_pools):
            if stray := sorted(set(pool.zones or ()) - set(self.network.zones)):
                raise At(
                    f"node_pools[{index}].zones",
                    f"{', '.join(stray)} is no zone of the network ({', '.join(self.network.zones)})",
                )
        return self

    @model_validator(mode="after")
    def _money_and_identity_as_the_cloud_has_them(self) -> Self:
        provider = self.cloud.provider
        if self.budget is not None and (found := budget_problem(provider, self.budget)) is not None:
            raise At(f"budget.{found[0]}", found[1])
        if provider != "aws" and self.identity is not None and not self.identity.github.create_provider:
            raise At(
                "identity.github.create_provider",
                "only an AWS account has one provider for all; leave it out",
            )
        return self

    @model_validator(mode="after")
    def _network_holds_the_nodes(self) -> Self:
        cidr = self.network.cidr
        if (why := private_problem(self.cloud.provider, cidr)) is not None:
            raise At("network.cidr", why)
        if self.cloud.provider == "aws" and not 16 <= cidr.prefixlen <= 28:  # noqa: PLR2004 - AWS's own bounds
            raise At("network.cidr", f"a VPC is a /16 to a /28, {cidr} is not")
        layout = self.layout()
        if isinstance(layout, TooSmall):
            raise At("network.cidr", str(layout))
        if isinstance(layout, AzureLayout):
            taken = {
                layout.pods: "numbers the cluster's pods",
                layout.services: "numbers the cluster's services",
            }
            for block, why in {**taken, **dict.fromkeys(AZURE_RESERVED_CIDRS, "AKS keeps to itself")}.items():
                if cidr.overlaps(block):
                    raise At("network.cidr", f"{cidr} overlaps {block}, which {why}")
        return self

    @model_validator(mode="after")
    def _api_as_the_cloud_has_it(self) -> Self:
        access = self.cluster.api_access
        if self.cloud.provider == "azure" and self.cluster.system.nodes.min < 1:
            # https://learn.microsoft.com/azure/aks/use-system-pools
            raise At(
                "cluster.system.nodes.min", "AKS keeps at least one system node; two survive the loss of one"
            )
        if self.cloud.provider == "azure" and access.private and access.public_cidrs:
            # https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges
            raise At(
                "cluster.api_access",
                "an AKS cluster's API is private or public, never both: leave public_cidrs empty, "
                "or set private: false",
            )
        if self.cloud.provider == "gcp" and not access.private:
            # https://cloud.google.com/kubernetes-engine/docs/concepts/private-cluster-concept
            raise At(
                "cluster.api_access.private",
                "GKE's private nodes reach the API inside the network: set it to true",
            )
        return self

    def _zone_lists(self) -> list[tuple[str, tuple[str, ...]]]:
        pools = [
            (f"node_pools[{index}].zones", pool.zones)
            for index, pool in enumerate(self.node_pools)
            if pool.zones is not None
        ]
        return [("network.zones", self.network.zones), *pools]

    @property
    def physical_name(self) -> str:
        """Base of every physical name: the platform's name and the environment's."""
        return f"{self.name}-{self.environment}"

    @property
    def nodes_max(self) -> int:
        """Nodes at the autoscaler's maximum, with one for the system pool's surge in an upgrade.

        GPU pools are upgraded in place on every cloud: a spare GPU machine can rarely be had.
        """
        return self.cluster.system.nodes.max + 1 + sum(pool.nodes.max for pool in self.node_pools)

    def layout(self) -> AwsLayout | AzureLayout | GcpLayout | TooSmall:
        """The division of the network's CIDR on this cloud."""
        match self.cloud:
            case Aws():
                return aws_layout(self.network.cidr, self.network.zones, self.nodes_max)
            case Azure():
                shared = {n: t for n, t in self.storage.items() if isinstance(t, SharedFilesystem)}
                lustre = {
                    name: tier.capacity_gib for name, tier in shared.items() if tier.service == "lustre"
                }
                endpoints = len(lustre) < len(shared)
                return azure_layout(self.network.cidr, self.nodes_max, lustre, endpoints=endpoints)
            case Gcp():
                return gcp_layout(self.network.cidr, self.nodes_max)

    @property
    def protects(self) -> bool:
        """Whether what holds data is protected from deletion."""
        return self.environment == "prod" if self.protect is None else self.protect

    @property
    def tags(self) -> Tags:
        """The tags of every resource in the environment."""
        return Tags(
            environment=self.environment,
            project=self.project or self.name,
            team=self.team or self.name,
            cost_center=self.cost_center,
            owner=self.owner,
            expires=self.expires.isoformat() if self.expires else None,
            experiment=self.experiment,
        )
