"""EKS add-ons in the order that nodes need them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_aws import eks

from gpuplatform.aws.identity import Role, RoleMaker
from gpuplatform.aws.policies import fsx_driver_policy, pod_identity_trust
from gpuplatform.contracts import Mount

__all__ = ["AFTER_NODES", "MOUNTS", "NODE_NETWORKING", "POD_IDENTITY_AGENT", "Addon", "install"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Addon:
    """One add-on and what it may do.

    Attributes:
        name: As EKS names it.
        values: Its configuration.
        service_account: The service account in kube-system that gets a role, where it needs one.
        policy: AWS's own policy for that role.
        own_policy: Or the policy for that role in that region.
    """

    name: str
    values: Mapping[str, Any] | None = None
    service_account: str | None = None
    policy: str | None = None
    own_policy: Callable[[str], Mapping[str, Any]] | None = None


POD_IDENTITY_AGENT: Final = Addon(name="eks-pod-identity-agent")
"""First of all: it hands out the roles of the others. On the host's network, so it needs no CNI."""

NODE_NETWORKING: Final = (
    Addon(
        name="vpc-cni",
        # Prefix mode: /28 blocks instead of single addresses, so that a node holds 110 pods whatever its
        # number of interfaces, and the subnets are sized for it (config/layout.py). It must be on before the
        # first node: EKS sets a node's limit of pods when it launches
        # (https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses-procedure.html).
        values={"env": {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1"}},
        service_account="aws-node",
        policy="AmazonEKS_CNI_Policy",
    ),
    Addon(name="kube-proxy"),
)
"""DaemonSets that a node needs to become ready; they are active without any node."""

AFTER_NODES: Final = (
    # Deployments: without a node to run on, they stay degraded until the create call times out.
    Addon(name="coredns"),
    Addon(
        name="aws-ebs-csi-driver",
        service_account="ebs-csi-controller-sa",
        policy="service-role/AmazonEBSCSIDriverPolicy",
    ),
    Addon(
        name="eks-node-monitoring-agent",
        # Node repair acts on what this agent sees. Its DCGM part tolerates no taint by default (aws/
        # eks-node-monitoring-agent, values.yaml), so on tainted GPU nodes it would never run, and GPU faults
        # would go unseen. The other add-ons' DaemonSets tolerate every taint by default.
        values={"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}},
    ),
)
"""Deliberately absent: metrics-server, which neither the autoscaler nor the GPU Operator needs."""

MOUNTS: Final[Mapping[Mount, Addon]] = {
    "object": Addon(
        name="aws-mountpoint-s3-csi-driver",
        # No role: each pod mounts as itself (object_store.py), and the driver can reach no bucket of its own.
        # Version 1 of the driver tolerates no taint by default (awslabs/mountpoint-s3-csi-driver,
        # docs/CONFIGURATION.md), so it is said.
        values={"node": {"tolerateAllTaints": True}},
    ),
    "lustre": Addon(
        name="aws-fsx-csi-driver",
        # Its node part tolerates every taint by default (kubernetes-sigs/aws-fsx-csi-driver, values.yaml).
        service_account="fsx-csi-controller-sa",
        own_policy=fsx_driver_policy,
    ),
}
"""CSI drivers by what pods mount, after the nodes as well. NFS has none: EFS is not among the tiers."""


def install(
    roles: RoleMaker, cluster: Any, addons: Sequence[Addon], *, after: Sequence[pulumi.Resource] = ()
) -> list[pulumi.Resource]:
    """Installs add-ons as children of the roles' owner.

    The version is left to EKS, which picks the default one of the cluster's minor on creation and keeps it
    until told otherwise.
    """
    return [_install(roles, cluster, addon, after) for addon in addons]


def _install(
    roles: RoleMaker, cluster: Any, addon: Addon, after: Sequence[pulumi.Resource]
) -> pulumi.Resource:
    role = _role(roles, cluster, addon)
    associations = None
    if role is not None and addon.service_account is not None:
        associations = [
            eks.AddonPodIdentityAssociationArgs(role_arn=role.arn, service_account=addon.service_account)
        ]
    installed: pulumi.Resource = eks.Addon(
        f"{roles.prefix}-{addon.name}",
        cluster_name=cluster.name,
        addon_name=addon.name,
        configuration_values=json.dumps(addon.values) if addon.values is not None else None,
        pod_identity_associations=associations,
        # What is written here holds; a change by hand is undone by the next update.
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="OVERWRITE",
        tags=roles.tags.aws(),
        opts=roles.owner.child(depends_on=[*after, *(role.ready if role is not None else ())]),
    )
    return installed


def _role(roles: RoleMaker, cluster: Any, addon: Addon) -> Role | None:
    """The add-on's role; the trust names this cluster, so it comes after it."""
    account = addon.service_account
    if account is None:
        return None
    trust = cluster.arn.apply(lambda arn: pod_identity_trust(arn, "kube-system", account))
    return roles.make(
        addon.name,
        trust,
        managed=[addon.policy] if addon.policy is not None else [],
        inline=addon.own_policy(roles.region) if addon.own_policy is not None else None,
    )
