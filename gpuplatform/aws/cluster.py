"""An EKS cluster with its system nodes and add-ons, ready for GPU pools and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_aws import eks, iam

from gpuplatform.aws.access import admin_access, viewer_access
from gpuplatform.aws.addons import AFTER_NODES, MOUNTS, NODE_NETWORKING, POD_IDENTITY_AGENT, install
from gpuplatform.aws.identity import RoleMaker
from gpuplatform.aws.kubeconfig import kubeconfig, kubeconfig_command
from gpuplatform.aws.network import AwsNetwork, AwsNetworkIds
from gpuplatform.aws.policies import service_trust
from gpuplatform.aws.resource import LONGEST_WINDOW, AwsResource, Key
from gpuplatform.aws.settings import api_access, encryption, people, upgrades
from gpuplatform.aws.system_pool import Arch, system_pool
from gpuplatform.aws.zones import control_plane_zones
from gpuplatform.contracts import ClusterArgs, ClusterComponent
from gpuplatform.errors import Refusal

__all__ = ["EksCluster", "EksClusterArgs", "EksClusterIds", "EksFabricIds"]

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
LOG_RETENTION_DAYS: Final = 90

# The CNI's policy is absent: the add-on has a role of its own. Images are pulled, never pushed.
NODE_POLICIES: Final = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")


@dataclass(frozen=True, kw_only=True)
class EksClusterArgs(ClusterArgs):
    """What an `EksCluster` is made of: the arguments of every cluster, and those of AWS.

    Admins are ARNs of IAM roles and users; whoever runs Pulumi must be one of them or assume one. With
    `standard` support AWS upgrades the cluster when the minor's support ends; `extended` keeps the minor at
    six times the control plane's price. The cluster's key and logs are protected with it.

    Attributes:
        network: The network, or the IDs of one that exists.
        system_arch: Architecture of the system pool's machines, which decides their image.
        role_boundary: ARN of the permissions boundary of every role that is made for the cluster and its
            pods; a pipeline's role makes none without `gpuplatform.permissions.aws.boundary_arn`.

    Raises:
        Refusal: EKS cannot build it.
    """

    CLOUD = "aws"
    KIND = "EKS cluster"

    network: AwsNetwork | AwsNetworkIds
    system_arch: Arch = "amd64"
    role_boundary: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        control_plane_zones(tuple(self.network_ids.subnet_by_zone))
        if not self.api_private and not self.api_public_cidrs:
            raise Refusal(
                "the API has neither a private nor a public endpoint",
                where="cluster.api_access",
                rule="nobody, the nodes included, could reach it",
                way_out="set private to true, or list your own addresses in public_cidrs",
            )
        if unknown := [mount for mount in self.mounts if mount not in MOUNTS]:
            raise Refusal(
                f"pods would mount {', '.join(unknown)}",
                where="cluster.mounts",
                rule=f"on AWS they mount {' and '.join(MOUNTS)}",
                way_out="use FSx for Lustre: service: lustre",
            )

    @property
    def network_ids(self) -> AwsNetworkIds:
        """What the cluster needs to know of its network."""
        return self.network.ids if isinstance(self.network, AwsNetwork) else self.network


@dataclass(frozen=True, kw_only=True)
class EksFabricIds:
    """What pools with Elastic Fabric Adapters need to know of their cluster.

    Attributes:
        vpc_id: The VPC of the nodes.
        security_group_id: The cluster's own security group, which EKS makes.
    """

    vpc_id: pulumi.Input[str]
    security_group_id: pulumi.Input[str]


@dataclass(frozen=True, kw_only=True)
class EksClusterIds:
    """A cluster that exists already, for an `EksGpuPool` in it.

    Attributes:
        cluster_name: Its name.
        kubernetes_version: The minor of the pool's nodes, at most the control plane's.
        node_role_arn: A role with the policies that EKS nodes need.
        subnet_by_zone: One private subnet's ID for each zone.
        before_nodes: What must exist before a node is created, such as the CNI add-on.
        fabric: Where pools have Elastic Fabric Adapters.
    """

    cluster_name: pulumi.Input[str]
    kubernetes_version: str
    node_role_arn: pulumi.Input[str]
    subnet_by_zone: Mapping[str, pulumi.Input[str]]
    before_nodes: Sequence[pulumi.Resource] = ()
    fabric: EksFabricIds | None = None


class EksCluster(ClusterComponent):
    """The control plane, who may use it, its system nodes, and its add-ons.

    Outputs, beside those of every cluster:
        oidc_provider_arn: The IAM provider that trusts the issuer, for roles by web identity.
        node_role_arn: The nodes' role.

    Attributes:
        ids: What an `EksGpuPool` needs.
        role_boundary: As in the arguments, for roles that others make for its pods.
    """

    TOKEN = "gpuplatform:index:EksCluster"  # noqa: S105 - a type token, no secret

    oidc_provider_arn: pulumi.Output[str]
    node_role_arn: pulumi.Output[str]
    ids: EksClusterIds
    role_boundary: str | None

    def __init__(self, name: str, args: EksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._name = name
        self._args = args
        self.role_boundary = args.role_boundary
        self._roles = RoleMaker(
            owner=self,
            prefix=name,
            name=args.name,
            region=args.region,
            tags=args.tags,
            boundary=args.role_boundary,
        )
        network = args.network_ids
        cluster = self._control_plane(network)
        access = admin_access(self, name, args, cluster=cluster)
        viewer_access(self, name, args, cluster=cluster)
        agent = install(self._roles, cluster, [POD_IDENTITY_AGENT])
        networking = install(self._roles, cluster, NODE_NETWORKING, after=agent)
        node_role = self._roles.make("nodes", service_trust("ec2"), managed=NODE_POLICIES)
        self.node_role_arn = node_role.arn
        self.ids = EksClusterIds(
            cluster_name=cluster.name,
            kubernetes_version=args.kubernetes_version,
            node_role_arn=node_role.arn,
            subnet_by_zone=network.subnet_by_zone,
            before_nodes=(*network.ready, *agent, *networking, *node_role.ready),
            fabric=EksFabricIds(
                vpc_id=network.id, security_group_id=cluster.vpc_config.cluster_security_group_id
            ),
        )
        nodes = system_pool(
            self,
            name,
            args,
            arch=args.system_arch,
            cluster=cluster,
            role=node_role,
            subnet_ids=list(network.subnet_by_zone.values()),
            after=self.ids.before_nodes,
        )
        drivers = [addon for mount, addon in MOUNTS.items() if mount in args.mounts]
        addons = install(self._roles, cluster, (*AFTER_NODES, *drivers), after=[nodes])
        issuer = cluster.identities[0].oidcs[0].issuer
        self.oidc_provider_arn = self._oidc_provider(issuer)
        self.finish_cluster(
            name,
            cloud=args.CLOUD,
            cluster=cluster,
            name=cluster.name,
            id_=cluster.arn,
            endpoint=cluster.endpoint,
            kubeconfig=pulumi.Output.all(
                name=cluster.name, endpoint=cluster.endpoint, authority=cluster.certificate_authority.data
            ).apply(lambda known: kubeconfig(region=args.region, **known)),
            kubeconfig_command=cluster.name.apply(lambda known: kubeconfig_command(known, args.region)),
            oidc_issuer=issuer,
            ready=(nodes, *addons, *access),
            oidc_provider_arn=self.oidc_provider_arn,
            node_role_arn=self.node_role_arn,
        )

    def _control_plane(self, network: AwsNetworkIds) -> Any:
        args = self._args
        attached = control_plane_zones(tuple(network.subnet_by_zone))
        role = self._roles.make("cluster", service_trust("eks"), managed=["AmazonEKSClusterPolicy"])
        return eks.Cluster(
            f"{self._name}-eks",
            name=args.name,
            version=args.kubernetes_version,
            role_arn=role.arn,
            access_config=people(),
            # The add-ons are EKS's managed ones; the self-managed set would be there first.
            bootstrap_self_managed_addons=False,
            vpc_config=api_access(args, subnet_ids=[network.subnet_by_zone[zone] for zone in attached]),
            encryption_config=encryption(self._key()),
            enabled_cluster_log_types=list(LOG_TYPES),
            upgrade_policy=upgrades(args.support),
            deletion_protection=args.protect,
            tags=args.tags.aws(),
            opts=self.child(protect=args.protect, depends_on=[self._logs(), *role.ready]),
        )

    def _logs(self) -> AwsResource:
        """Before the cluster: EKS makes the group itself where there is none, without tags and for ever."""
        args = self._args
        return AwsResource(
            "aws:cloudwatch/logGroup:LogGroup",
            f"{self._name}-logs",
            {
                "name": f"/aws/eks/{args.name}/cluster",
                "retentionInDays": LOG_RETENTION_DAYS,
                "tags": args.tags.aws(),
            },
            self.child(protect=args.protect),
        )

    def _key(self) -> Key:
        """Without the key, the secrets of a cluster that lives on are lost."""
        args = self._args
        return Key(
            f"{self._name}-secrets",
            {
                "description": f"Kubernetes secrets of {args.name}",
                "enableKeyRotation": True,
                "deletionWindowInDays": LONGEST_WINDOW,
                "tags": args.tags.aws(Name=f"{args.name}-secrets"),
            },
            self.child(protect=args.protect),
        )

    def _oidc_provider(self, issuer: pulumi.Output[str]) -> pulumi.Output[str]:
        """ARN of the IAM provider that trusts the issuer.

        No thumbprints: IAM trusts EKS's issuer through its library of root authorities, and fetches the
        thumbprint itself
        (https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateOpenIDConnectProvider.html).
        """
        provider = iam.OpenIdConnectProvider(
            f"{self._name}-oidc",
            url=issuer,
            client_id_lists=["sts.amazonaws.com"],
            tags=self._args.tags.aws(),
            opts=self.child(),
        )
        arn: pulumi.Output[str] = provider.arn
        return arn
