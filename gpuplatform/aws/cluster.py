"""An EKS cluster with its system nodes and add-ons, ready for GPU pools and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_aws import eks, iam

from gpuplatform.aws.access import admin_access, check_admins
from gpuplatform.aws.addons import AFTER_NODES, NODE_NETWORKING, POD_IDENTITY_AGENT, install
from gpuplatform.aws.kubeconfig import kubeconfig, kubeconfig_command
from gpuplatform.aws.network import AwsNetwork, AwsNetworkIds
from gpuplatform.aws.policies import service_trust
from gpuplatform.aws.resource import AwsResource, Key
from gpuplatform.aws.role import Role, RoleMaker
from gpuplatform.aws.system_pool import Arch, SystemPool, system_pool
from gpuplatform.aws.zones import control_plane_zones
from gpuplatform.component import Component
from gpuplatform.contracts import ClusterHandle
from gpuplatform.errors import Refusal
from gpuplatform.naming import problem
from gpuplatform.tags import Tags

__all__ = ["EksCluster", "EksClusterArgs"]

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
LOG_RETENTION_DAYS: Final = 90
KEY_DELETION_DAYS: Final = 30
"""The longest that KMS offers: until then a key deleted by mistake can be called back."""

# The CNI's policy is absent: the add-on has a role of its own. Images are pulled, never pushed.
NODE_POLICIES: Final = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")


@dataclass(frozen=True, kw_only=True)
class EksClusterArgs:
    """What a cluster is made of.

    Attributes:
        name: The cluster's name, such as `vision-prod`; also begins the names of roles and logs.
        region: Such as `us-east-1`.
        kubernetes_version: The minor, such as `1.35`. EKS goes up one minor at a time and never down.
        network: The network component, or the IDs of an existing network.
        admins: ARNs of IAM roles and users that administer the cluster. Whoever runs Pulumi must be among
            them (or assume one), since nobody gets in just for having created the cluster, and the charts
            could not be installed.
        api_private: The API has an endpoint inside the VPC.
        api_public_cidrs: Who reaches the API from outside; no public endpoint where it is empty.
        system_sku: Machine type of the system pool, such as `m6i.xlarge`.
        system_arch: Its architecture, which decides the image.
        system_min: Nodes of the system pool that are always there.
        system_max: Nodes that its autoscaler may reach.
        tags: Tags of every resource.
        support: `standard` lets AWS upgrade the cluster when the minor's standard support ends; `extended`
            keeps the minor at six times the control plane's price.
        protect: Protect the cluster, its key and its logs from deletion.
    """

    name: str
    region: str
    kubernetes_version: str
    network: AwsNetwork | AwsNetworkIds
    admins: tuple[str, ...]
    system_sku: str
    system_min: int
    system_max: int
    tags: Tags
    system_arch: Arch = "amd64"
    api_private: bool = True
    api_public_cidrs: tuple[str, ...] = ()
    support: Literal["standard", "extended"] = "standard"
    protect: bool = True


class EksCluster(Component):
    """The control plane, who may use it, its system nodes, and its add-ons.

    Outputs:
        cluster_name: The cluster's name.
        cluster_arn: Its ARN.
        endpoint: URL of its API.
        kubeconfig: A kubeconfig without a credential; a secret output.
        kubeconfig_command: What a person types to get one.
        oidc_issuer: Issuer of its service account tokens.
        oidc_provider_arn: The IAM provider that trusts that issuer, for roles by web identity.
        node_role_arn: The nodes' role.

    Attributes:
        handle: The cluster as the layers above and the components inside it see it.
        kubernetes_version: As asked for.
        subnet_by_zone: The network's subnets, for pools.
        before_nodes: What must exist before a node group is created.

    Raises:
        Refusal: The name, the zones or the admins cannot make a cluster.
    """

    TOKEN = "gpuplatform:index:EksCluster"  # noqa: S105 - a type token, no secret

    handle: ClusterHandle
    kubernetes_version: str
    subnet_by_zone: Mapping[str, pulumi.Input[str]]
    before_nodes: Sequence[pulumi.Resource]

    cluster_name: pulumi.Output[str]
    cluster_arn: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    kubeconfig_command: pulumi.Output[str]
    oidc_issuer: pulumi.Output[str]
    oidc_provider_arn: pulumi.Output[str]
    node_role_arn: pulumi.Output[str]

    def __init__(self, name: str, args: EksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        _check(args)
        attached_zones = control_plane_zones(tuple(args.network.subnet_by_zone))
        super().__init__(name, opts)
        self._name = name
        self._args = args
        self._roles = RoleMaker(owner=self, prefix=name, name=args.name, region=args.region, tags=args.tags)
        self.kubernetes_version = args.kubernetes_version
        self.subnet_by_zone = args.network.subnet_by_zone

        cluster = self._control_plane([self.subnet_by_zone[zone] for zone in attached_zones])
        access = admin_access(self, name, cluster, args.admins, region=args.region, tags=args.tags)
        agent = install(self._roles, cluster, [POD_IDENTITY_AGENT])
        networking = install(self._roles, cluster, NODE_NETWORKING, after=agent)
        nodes_role = self._roles.make("nodes", service_trust("ec2"), managed=NODE_POLICIES)
        self.before_nodes = (*args.network.ready, *agent, *networking, *nodes_role.ready)
        nodes = self._system_nodes(cluster, nodes_role)
        addons = install(self._roles, cluster, AFTER_NODES, after=[nodes])
        self._set_outputs(cluster, nodes_role)
        self.handle = self._handle(cluster, ready=(nodes, *addons, *access))
        self.finish(
            cluster_name=self.cluster_name,
            cluster_arn=self.cluster_arn,
            endpoint=self.endpoint,
            kubeconfig=self.kubeconfig,
            kubeconfig_command=self.kubeconfig_command,
            oidc_issuer=self.oidc_issuer,
            oidc_provider_arn=self.oidc_provider_arn,
            node_role_arn=self.node_role_arn,
        )

    def _control_plane(self, subnet_ids: Sequence[pulumi.Input[str]]) -> Any:
        args = self._args
        role = self._roles.make("cluster", service_trust("eks"), managed=["AmazonEKSClusterPolicy"])
        # Before the cluster: EKS makes the group itself where there is none, without tags and for ever.
        logs = AwsResource(
            "aws:cloudwatch/logGroup:LogGroup",
            f"{self._name}-logs",
            {
                "name": f"/aws/eks/{args.name}/cluster",
                "retentionInDays": LOG_RETENTION_DAYS,
                "tags": args.tags.aws(),
            },
            self.child(protect=args.protect),
        )
        key = Key(
            f"{self._name}-secrets",
            {
                "description": f"Kubernetes secrets of {args.name}",
                "enableKeyRotation": True,
                "deletionWindowInDays": KEY_DELETION_DAYS,
                "tags": args.tags.aws(Name=f"{args.name}-secrets"),
            },
            # Without the key, the secrets of a cluster that lives on are lost.
            self.child(protect=args.protect),
        )
        return eks.Cluster(
            f"{self._name}-eks",
            name=args.name,
            version=args.kubernetes_version,
            role_arn=role.arn,
            access_config=eks.ClusterAccessConfigArgs(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
            ),
            # The add-ons below are EKS's managed ones; the self-managed set would be there first.
            bootstrap_self_managed_addons=False,
            vpc_config=eks.ClusterVpcConfigArgs(
                subnet_ids=subnet_ids,
                endpoint_private_access=args.api_private,
                endpoint_public_access=bool(args.api_public_cidrs),
                # Left out, it is 0.0.0.0/0; EKS refuses an empty list.
                public_access_cidrs=list(args.api_public_cidrs) or None,
            ),
            encryption_config=eks.ClusterEncryptionConfigArgs(
                resources=["secrets"], provider=eks.ClusterEncryptionConfigProviderArgs(key_arn=key.arn)
            ),
            enabled_cluster_log_types=list(LOG_TYPES),
            # Left out, EKS enters extended support by itself, at six times the price.
            upgrade_policy=eks.ClusterUpgradePolicyArgs(support_type=args.support.upper()),
            deletion_protection=args.protect,
            tags=args.tags.aws(),
            opts=self.child(protect=args.protect, depends_on=[logs, *role.ready]),
        )

    def _system_nodes(self, cluster: Any, role: Role) -> Any:
        args = self._args
        return system_pool(
            self,
            self._name,
            SystemPool(
                sku=args.system_sku,
                arch=args.system_arch,
                nodes_min=args.system_min,
                nodes_max=args.system_max,
            ),
            name=args.name,
            cluster=cluster,
            kubernetes_version=args.kubernetes_version,
            role=role,
            subnet_ids=list(self.subnet_by_zone.values()),
            tags=args.tags,
            after=self.before_nodes,
        )

    def _set_outputs(self, cluster: Any, nodes: Role) -> None:
        region = self._args.region
        self.cluster_name = cluster.name
        self.cluster_arn = cluster.arn
        self.endpoint = cluster.endpoint
        self.oidc_issuer = cluster.identities[0].oidcs[0].issuer
        # No thumbprints: IAM trusts EKS's issuer through its library of root authorities, and fetches the
        # thumbprint itself (https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateOpenIDConnectProvider.html).
        provider = iam.OpenIdConnectProvider(
            f"{self._name}-oidc",
            url=self.oidc_issuer,
            client_id_lists=["sts.amazonaws.com"],
            tags=self._args.tags.aws(),
            opts=self.child(),
        )
        self.oidc_provider_arn = provider.arn
        self.node_role_arn = nodes.arn
        self.kubeconfig_command = cluster.name.apply(lambda name: kubeconfig_command(name, region))
        # No credential in it, and a secret all the same: it says where the API is.
        self.kubeconfig = pulumi.Output.secret(
            pulumi.Output.all(
                name=cluster.name, endpoint=cluster.endpoint, authority=cluster.certificate_authority.data
            ).apply(lambda values: kubeconfig(region=region, **values))
        )

    def _handle(self, cluster: Any, ready: Sequence[pulumi.Resource]) -> ClusterHandle:
        provider = kubernetes.Provider(
            f"{self._name}-kubernetes",
            kubeconfig=self.kubeconfig,
            # The only thing whose change replaces what is in the cluster (pulumi/pulumi-kubernetes#4019).
            cluster_identifier=cluster.arn,
            opts=self.child(),
        )
        return ClusterHandle(
            cloud="aws",
            name=self.cluster_name,
            id=self.cluster_arn,
            endpoint=self.endpoint,
            kubeconfig=self.kubeconfig,
            kubeconfig_command=self.kubeconfig_command,
            oidc_issuer=self.oidc_issuer,
            provider=provider,
            cluster=cluster,
            ready=ready,
        )


def _check(args: EksClusterArgs) -> None:
    if (why := problem("EKS cluster", args.name)) is not None:
        raise Refusal(why, where="name", way_out="shorten the platform's or the environment's name")
    check_admins(args.admins)
    if not args.api_private and not args.api_public_cidrs:
        raise Refusal(
            "the API has neither a private nor a public endpoint",
            where="cluster.api_access",
            way_out="set private: true, or list your own addresses in public_cidrs",
        )
