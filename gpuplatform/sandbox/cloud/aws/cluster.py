"""EKS: clusters, node groups, add-ons and who may use them."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from gpuplatform.sandbox.cloud import machines, wire
from gpuplatform.sandbox.cloud.aws.functions import zone_name
from gpuplatform.sandbox.cloud.aws.launch import (
    PLACEMENT_GROUP,
    TEMPLATE,
    placement_group_of,
    refuse_template,
    template_inputs,
    template_of,
)
from gpuplatform.sandbox.cloud.rule import Call, CloudError, NameRule, Reference, Rule
from gpuplatform.sandbox.cloud.world import API
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["CLUSTER", "RULES", "TEMPLATE", "offered"]

CLUSTER = "aws:eks/cluster:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ADDON = "aws:eks/addon:Addon"
ENTRY = "aws:eks/accessEntry:AccessEntry"

_SUBNET = "aws:ec2/subnet:Subnet"
_GROUP = "aws:ec2/securityGroup:SecurityGroup"
_ROLE = "aws:iam/role:Role"

_DEPLOYMENTS = frozenset({"coredns", "aws-ebs-csi-driver", "metrics-server", "snapshot-controller"})
"""Add-ons whose Deployments need a node before EKS calls them ACTIVE (eksctl and terraform-aws-eks create
them after the node groups for that reason)."""

_FEWEST_ZONES = 2

_AUTHORITY = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nsandbox\n-----END CERTIFICATE-----\n").decode()

_NO_ROLE = "InvalidParameterException: Role with arn: {value}, could not be assumed because it does not exist"
_NO_SUBNET = "InvalidParameterException: The subnet ID '{value}' does not exist"
_IN_SUBNET = "DependencyViolation: The subnet '{id}' has dependencies and cannot be deleted."
_NO_GROUP = "InvalidParameterException: The security group '{value}' does not exist"
_IN_GROUP = "DependencyViolation: resource {id} has a dependent object"
_NO_CLUSTER = "ResourceNotFoundException: No cluster found for name: {value}."


def _zones(call: Call, path: str) -> set[str]:
    things = (call.world.named(_SUBNET, subnet) for subnet in wire.at(call.inputs, path))
    return {str(thing.outputs["availabilityZoneId"]) for thing in things if thing}


def _create_cluster(call: Call) -> None:
    if len(_zones(call, "vpcConfig.subnetIds[]")) < _FEWEST_ZONES:
        raise CloudError("InvalidParameterException: Subnets specified must be in at least two different AZs")
    private, public = call.get("vpcConfig.endpointPrivateAccess"), call.get("vpcConfig.endpointPublicAccess")
    if public is False and not private:
        raise CloudError("InvalidParameterException: Private and public endpoint access cannot both be false")


def _update_cluster(call: Call, old: Mapping[str, Any]) -> None:
    before, after = old.get("version"), call.get("version")
    if not before or not after or before == after:
        return
    if _minor(after) != _minor(before) + 1:
        raise CloudError(
            f"InvalidParameterException: Unsupported Kubernetes minor version update from {before} to {after}"
        )


def _minor(version: str) -> int:
    return int(version.partition(".")[2] or 0)


def _delete_cluster(call: Call) -> None:
    if call.get("deletionProtection"):
        raise CloudError(
            f"InvalidRequestException: Cannot delete cluster {call.id} because deletion protection is enabled"
        )


def _cluster_outputs(call: Call) -> dict[str, Any]:
    digits = wire.digest(call.id, call.account.scope, length=32).upper()
    suffix = f"{call.region}.amazonaws.com"
    subnet = call.world.named(_SUBNET, call.get("vpcConfig.subnetIds[]", ""))
    return {
        "arn": f"arn:aws:eks:{call.region}:{call.account.owner}:cluster/{call.id}",
        "endpoint": f"https://{digits}.gr7.{call.region}.eks.amazonaws.com",
        "certificateAuthority": {"data": _AUTHORITY},
        "identities": [{"oidcs": [{"issuer": f"https://oidc.eks.{suffix}/id/{digits}"}]}],
        "status": "ACTIVE",
        "platformVersion": "eks.1",
        "createdAt": call.created,
        "vpcConfig": {
            "clusterSecurityGroupId": f"sg-{wire.digest(call.id, 'cluster', length=17)}",
            "vpcId": subnet.inputs.get("vpcId", "") if subnet else "",
        },
        # A cluster that says nothing enters extended support, at six times the price.
        "upgradePolicy": {"supportType": call.get("upgradePolicy.supportType", "EXTENDED")},
        "accessConfig": {"authenticationMode": call.get("accessConfig.authenticationMode", "CONFIG_MAP")},
        "kubernetesNetworkConfig": {
            "ipFamily": call.get("kubernetesNetworkConfig.ipFamily", "ipv4"),
            "serviceIpv4Cidr": call.get("kubernetesNetworkConfig.serviceIpv4Cidr", "172.20.0.0/16"),
        },
    }


def _cluster_handles(_call: Call, outputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (API, urlsplit(outputs["endpoint"]).hostname or ""),
        (_GROUP, outputs["vpcConfig"]["clusterSecurityGroupId"]),
    ]


def _check_node_group(call: Call) -> Iterator[Problem]:
    sizes = [call.get(f"scalingConfig.{size}") for size in ("minSize", "desiredSize", "maxSize")]
    if all(isinstance(size, int | float) for size in sizes):
        least, wanted, most = sizes
        if most < 1:
            yield Problem("scalingConfig.maxSize", f"expected to be at least 1, got {most:g}")
        elif not least <= wanted <= most:
            yield Problem(
                "scalingConfig",
                f"needs minSize <= desiredSize <= maxSize, got {least:g}, {wanted:g}, {most:g}",
            )


def offered(call: Call, sku: str) -> None:
    """Refuses a machine type that cannot be had in the region, or in the zones of the given subnets."""
    zone_ids = []
    for subnet in wire.at(call.inputs, "subnetIds[]"):
        thing = call.world.named(_SUBNET, subnet)
        if thing:
            zone_ids.append(str(thing.outputs["availabilityZoneId"]))
    where = f"in your requested Availability Zone ({', '.join(zone_ids) or call.region})"

    def not_in_zone(zone: str) -> str:
        name = zone_name(call.region, zone)
        return (
            f"Unsupported: Your requested instance type ({sku}) is not supported in your requested"
            f" Availability Zone ({name}, {zone})"
        )

    machines.refuse(
        "aws",
        sku,
        call.region,
        zone_ids,
        unknown=f"InvalidParameterException: The following supplied instance types do not exist: [{sku}]",
        not_in_region=f"Unsupported: Your requested instance type ({sku}) is not supported {where}",
        not_in_zone=not_in_zone,
    )


def _create_node_group(call: Call) -> None:
    values = template_inputs(call)
    refuse_template(call, values)
    sku = values.get("instanceType")
    if isinstance(sku, str):
        offered(call, sku)
    _refuse_nodes_without_network(call)


def _refuse_nodes_without_network(call: Call) -> None:
    cluster = call.world.named(CLUSTER, call.get("clusterName", ""))
    if cluster is None or not call.get("scalingConfig.desiredSize", 0):
        return
    bare = wire.first(cluster.inputs, "bootstrapSelfManagedAddons") is False
    addons = {a.inputs.get("addonName") for a in call.world.linked(CLUSTER, cluster.id, ADDON)}
    if bare and "vpc-cni" not in addons:
        raise CloudError(
            "unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: NodeCreationFailure:"
            " Unhealthy"
            " nodes in the kubernetes cluster (the cluster was made without add-ons and has no vpc-cni yet)"
        )


def _group_outputs(call: Call) -> dict[str, Any]:
    cluster, name = call.get("clusterName"), call.name
    digits = wire.digest(call.id, call.account.scope, length=32)
    unique = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    result: dict[str, Any] = {
        "arn": f"arn:aws:eks:{call.region}:{call.account.owner}:nodegroup/{cluster}/{name}/{unique}",
        "status": "ACTIVE",
        "resources": [
            {"autoscalingGroups": [{"name": f"eks-{name}-{unique}"}], "remoteAccessSecurityGroupId": ""}
        ],
        "capacityType": call.get("capacityType", "ON_DEMAND"),
    }
    template = template_of(call)
    if template:
        result["launchTemplate"] = {"id": template.id, "name": template.name}
    return result


def _group_handles(_call: Call, outputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [("autoscaling-group", outputs["resources"][0]["autoscalingGroups"][0]["name"])]


def _create_addon(call: Call) -> None:
    if call.get("addonName") not in _DEPLOYMENTS:
        return
    groups = call.world.linked(CLUSTER, call.get("clusterName", ""), NODE_GROUP)
    if not any(wire.first(group.inputs, "scalingConfig.desiredSize", 0) for group in groups):
        raise CloudError(
            "unexpected state 'DEGRADED', wanted target 'ACTIVE'. last error:"
            " InsufficientNumberOfReplicas: The"
            f" add-on {call.get('addonName')} is unhealthy because it doesn't have the desired number"
            f" of replicas:"
            " the cluster has no node yet"
        )


def _create_association(call: Call) -> None:
    principal = call.get("principalArn")
    entries = call.world.linked(CLUSTER, call.get("clusterName", ""), ENTRY)
    if not any(entry.inputs.get("principalArn") == principal for entry in entries):
        raise CloudError(
            f"ResourceNotFoundException: The specified principalArn could not be found: {principal} has"
            f" no access"
            " entry"
        )


def _create_entry(call: Call) -> None:
    cluster = call.world.named(CLUSTER, call.get("clusterName", ""))
    if cluster and wire.first(cluster.outputs, "accessConfig.authenticationMode") == "CONFIG_MAP":
        raise CloudError(
            "InvalidRequestException: The cluster's authentication mode must be set to one of [API,"
            " API_AND_CONFIG_MAP] to perform this operation."
        )


def _pod_identity(call: Call) -> str:
    return ",".join(str(call.get(part)) for part in ("clusterName", "namespace", "serviceAccount"))


_CLUSTER = Reference("clusterName", CLUSTER, _NO_CLUSTER, cascades=True)

RULES = (
    Rule(
        CLUSTER,
        names=NameRule(r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}", "1 to 100 of letters, digits, - and _"),
        references=(
            Reference("roleArn", _ROLE, _NO_ROLE),
            Reference("vpcConfig.subnetIds[]", _SUBNET, _NO_SUBNET, _IN_SUBNET),
            Reference("vpcConfig.securityGroupIds[]", _GROUP, _NO_GROUP, _IN_GROUP),
            Reference(
                "encryptionConfig.provider.keyArn",
                "aws:kms/key:Key",
                "InvalidParameterException: The keyArn {value} could not be found",
            ),
        ),
        pending=("vpcConfig.clusterSecurityGroupId", "vpcConfig.vpcId"),
        create=_create_cluster,
        update=_update_cluster,
        delete=_delete_cluster,
        outputs=_cluster_outputs,
        handles=_cluster_handles,
    ),
    Rule(
        NODE_GROUP,
        names=NameRule(r"[0-9A-Za-z][A-Za-z0-9_-]{0,62}", "1 to 63 of letters, digits, - and _"),
        references=(
            Reference(
                "clusterName",
                CLUSTER,
                _NO_CLUSTER,
                "ResourceInUseException: Cluster has nodegroups attached ({by})",
            ),
            Reference("nodeRoleArn", _ROLE, _NO_ROLE),
            Reference("subnetIds[]", _SUBNET, _NO_SUBNET, _IN_SUBNET),
            Reference(
                "launchTemplate.id",
                TEMPLATE,
                "InvalidRequestException: The specified launch template, with template ID {value}, does"
                " not exist.",
            ),
            Reference(
                "launchTemplate.id",
                PLACEMENT_GROUP,
                holds="InvalidPlacementGroup.InUse: The placement group '{id}' is in use by {by}.",
                value=placement_group_of,
            ),
        ),
        machines=("instanceTypes[]",),
        nodes="scalingConfig.desiredSize",
        check=_check_node_group,
        create=_create_node_group,
        id=lambda call: f"{call.get('clusterName')}:{call.name}",
        outputs=_group_outputs,
        handles=_group_handles,
    ),
    Rule(
        ADDON,
        references=(_CLUSTER,),
        create=_create_addon,
        id=lambda call: f"{call.get('clusterName')}:{call.get('addonName')}",
    ),
    Rule(
        ENTRY,
        references=(_CLUSTER,),
        create=_create_entry,
        id=lambda call: f"{call.get('clusterName')}:{call.get('principalArn')}",
    ),
    Rule(
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        references=(_CLUSTER,),
        create=_create_association,
        id=lambda call: f"{call.get('clusterName')}#{call.get('principalArn')}#{call.get('policyArn')}",
    ),
    Rule(
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        references=(_CLUSTER, Reference("roleArn", _ROLE, _NO_ROLE)),
        # EKS has one association for a service account: "ResourceInUseException: Association already exists".
        id=_pod_identity,
        outputs=lambda call: {"associationId": f"a-{wire.digest(call.id, length=16)}"},
    ),
    Rule(
        "aws:autoscaling/tag:Tag",
        references=(
            Reference(
                "autoscalingGroupName",
                "autoscaling-group",
                "ValidationError: AutoScalingGroup name not found - no such group: {value}",
                cascades=True,
            ),
        ),
        id=lambda call: f"{call.get('autoscalingGroupName')},{call.get('tag.key')}",
    ),
)
