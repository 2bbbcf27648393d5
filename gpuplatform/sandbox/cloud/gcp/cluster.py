"""GKE: clusters and their node pools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.gcp.common import (
    ACCOUNT,
    CLUSTER,
    COMPUTE,
    IN_NETWORK,
    IN_USE,
    NETWORK,
    NOT_FOUND,
    POOL,
    RESOURCE_POLICY,
    SUBNET,
    normal,
    project_of,
)
from gpuplatform.sandbox.cloud.gcp.functions import project_number, zones
from gpuplatform.sandbox.cloud.rule import (
    Call,
    CloudError,
    NameRule,
    Reference,
    Rule,
)
from gpuplatform.sandbox.cloud.world import API
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["RULES", "cluster_of"]


def _check_cluster(call: Call) -> Iterator[Problem]:
    block = call.get("privateClusterConfig.masterIpv4CidrBlock")
    if block and not str(block).endswith("/28"):
        yield Problem("privateClusterConfig.masterIpv4CidrBlock", f"{block!r} must be a /28")
    if call.get("removeDefaultNodePool") and not call.get("initialNodeCount") and not call.get("nodePools"):
        yield Problem("initialNodeCount", "removeDefaultNodePool needs an initialNodeCount of 1")


def _create_cluster(call: Call) -> None:
    subnet = call.world.named(SUBNET, normal(str(call.get("subnetwork"))))
    if subnet is None:
        return
    known = set(wire.at(wire.plain(subnet.inputs), "secondaryIpRanges[].rangeName"))
    for path in ("clusterSecondaryRangeName", "servicesSecondaryRangeName"):
        name = call.get(f"ipAllocationPolicy.{path}")
        if name and name not in known:
            raise CloudError(
                f"googleapi: Error 400: The secondary range {name!r} does not exist in subnetwork"
                f" {subnet.name!r}."
            )


def _delete_cluster(call: Call) -> None:
    if call.get("deletionProtection", True):
        raise CloudError(
            "Cannot destroy cluster because deletion_protection is set to true. Set it to false to"
            " proceed with"
            " instance deletion."
        )


def _master_version(call: Call) -> str:
    asked = str(call.get("minMasterVersion") or "")
    return asked if "-gke." in asked else f"{asked or '1.35'}.1-gke.1000000"


def _cluster_outputs(call: Call) -> dict[str, Any]:
    address = f"192.0.2.{int(wire.digest(call.id, length=4), 16) % 254 + 1}"  # RFC 5737, documentation
    version = _master_version(call)
    private = call.get("privateClusterConfig.masterIpv4CidrBlock") or "172.16.0.0/28"
    return {
        "deletionProtection": call.get("deletionProtection", True),
        "endpoint": address,
        "masterAuth": {"clusterCaCertificate": "c2FuZGJveA==", "clientCertificate": "", "clientKey": ""},
        "masterVersion": version,
        "nodeVersion": version,
        "location": call.region,
        "nodeLocations": call.get("nodeLocations") or zones(call.region),
        "servicesIpv4Cidr": call.get("ipAllocationPolicy.servicesIpv4CidrBlock") or "34.118.224.0/20",
        "privateClusterConfig": {
            "privateEndpoint": str(private).replace(".0/28", ".2"),
            "publicEndpoint": address,
        },
        "controlPlaneEndpointsConfig": {
            "dnsEndpointConfig": {
                "endpoint": f"gke-{wire.digest(call.id, length=28)}-{project_number(project_of(call))}"
                f".{call.region}.gke.goog"
            }
        },
    }


def _cluster_handles(_call: Call, outputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    hosts = [
        outputs["endpoint"],
        outputs["privateClusterConfig"]["privateEndpoint"],
        outputs["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["endpoint"],
    ]
    return [(API, host) for host in hosts]


def cluster_of(call: Call) -> str:
    """`cluster` takes an id or a name; a name needs the pool's own location."""
    cluster = normal(str(call.get("cluster")))
    if cluster.startswith("projects/"):
        return cluster
    return f"projects/{project_of(call)}/locations/{call.region}/clusters/{cluster}"


def _check_flex_start(call: Call) -> Iterator[Problem]:
    """hashicorp/terraform-provider-google#18341; GoogleCloudPlatform/cluster-toolkit, gke-node-pool."""
    queued, flex = call.get("queuedProvisioning.enabled"), call.get("nodeConfig.flexStart")
    if not queued and not flex:
        return
    kind = call.get("nodeConfig.reservationAffinity.consumeReservationType")
    if kind != "NO_RESERVATION":
        what = "Queued_provisioning" if queued else "Flex_start"
        yield Problem(
            "nodeConfig.reservationAffinity",
            f"{what} requires reservation affinity to be set to none (NO_RESERVATION)",
        )
    if call.get("nodeConfig.spot"):
        yield Problem("nodeConfig.spot", "flex-start and queued provisioning exclude spot")
    if flex and call.get("management.autoRepair") is not False:
        yield Problem("management.autoRepair", "flex-start requires node auto-repair to be off")
    if call.get("nodeCount") is not None:
        yield Problem("nodeCount", "flex-start takes no fixed number of nodes")
    if queued and call.get("autoscaling.totalMinNodeCount"):
        yield Problem("autoscaling.totalMinNodeCount", "queued provisioning requires a minimum of 0")
    if queued and call.get("placementPolicy.type") == "COMPACT":
        yield Problem("placementPolicy", "queued provisioning excludes compact placement")


def _check_driver(call: Call) -> Iterator[Problem]:
    """A label that turns GKE's plugin off also stops GKE's driver from being finished (NVIDIA/aicr#1998)."""
    label = wire.at(call.inputs, "nodeConfig.labels")
    off = any(isinstance(each, Mapping) and each.get(_NO_PLUGIN) == "true" for each in label)
    versions = [
        version
        for version in wire.at(
            call.inputs, "nodeConfig.guestAccelerators[].gpuDriverInstallationConfig.gpuDriverVersion"
        )
        if version != wire.UNKNOWN
    ]
    if off and any(version != "INSTALLATION_DISABLED" for version in versions):
        yield Problem(
            "nodeConfig.labels",
            f"with {_NO_PLUGIN} the driver that GKE installs is never finished: the nodes have none",
        )


_NO_PLUGIN = "gke-no-default-nvidia-gpu-device-plugin"


def _check_pool(call: Call) -> Iterator[Problem]:
    yield from _check_flex_start(call)
    yield from _check_driver(call)
    scaling = "autoscaling."
    for least, most in (("minNodeCount", "maxNodeCount"), ("totalMinNodeCount", "totalMaxNodeCount")):
        low, high = call.get(scaling + least, 0), call.get(scaling + most)
        if high is not None and low > high:
            yield Problem(scaling + least, f"{low:g} is more than {most}, {high:g}")
    if call.get(f"{scaling}minNodeCount") is not None and call.get(f"{scaling}totalMaxNodeCount") is not None:
        yield Problem("autoscaling", "limits per zone and total limits exclude one another")
    if call.get("placementPolicy.type") == "COMPACT" and len(call.get("nodeLocations") or ()) > 1:
        yield Problem("placementPolicy", "compact placement is inside one zone")


def _create_pool(call: Call) -> None:
    cluster = call.world.named(CLUSTER, cluster_of(call))
    if cluster and call.get("management.autoUpgrade") is False:
        channel = wire.first(wire.plain(cluster.inputs), "releaseChannel.channel", "REGULAR")
        if channel != "UNSPECIFIED":
            raise CloudError(
                f"googleapi: Error 400: Auto_upgrade must be true when release_channel {channel} is set.,"
                " badRequest"
            )
    extra = list(wire.at(call.inputs, "networkConfig.additionalNodeNetworkConfigs[]"))
    metal = str(call.get("nodeConfig.machineType")).endswith("-metal")
    if cluster and extra and not metal and not cluster.inputs.get("enableMultiNetworking"):
        raise CloudError(
            "googleapi: Error 400: Additional node networks need a cluster with multi-networking enabled."
        )


def _pool_outputs(call: Call) -> dict[str, Any]:
    cluster = call.world.named(CLUSTER, cluster_of(call))
    nodes = call.get("nodeLocations") or (wire.plain(cluster.outputs)["nodeLocations"] if cluster else [])
    groups = [
        f"{COMPUTE}projects/{project_of(call)}/zones/{zone}/instanceGroupManagers/gke-{call.name}-grp"
        for zone in nodes
    ]
    version = wire.plain(cluster.outputs)["masterVersion"] if cluster else ""
    return {
        "nodeLocations": nodes,
        "instanceGroupUrls": groups,
        "managedInstanceGroupUrls": [g.replace("instanceGroupManagers", "instanceGroups") for g in groups],
        "version": call.get("version") or version,
        "maxPodsPerNode": call.get("maxPodsPerNode") or 110,
    }


_GKE_NAME = NameRule(
    r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", "1 to 40 of lower-case letters, digits and -, first a letter"
)


RULES = (
    Rule(
        CLUSTER,
        names=_GKE_NAME,
        references=(
            IN_NETWORK,
            Reference("subnetwork", SUBNET, NOT_FOUND, IN_USE),
            Reference("nodeConfig.serviceAccount", ACCOUNT),
        ),
        machines=("nodeConfig.machineType",),
        pending=("privateClusterConfig.privateEndpoint", "privateClusterConfig.publicEndpoint"),
        check=_check_cluster,
        create=_create_cluster,
        delete=_delete_cluster,
        outputs=_cluster_outputs,
        handles=_cluster_handles,
    ),
    Rule(
        POOL,
        names=_GKE_NAME,
        references=(
            Reference("cluster", CLUSTER, NOT_FOUND, cascades=True, value=cluster_of),
            Reference(
                "nodeConfig.serviceAccount",
                ACCOUNT,
                "googleapi: Error 400: Service account {value} does not exist., badRequest",
                unless=r"^default$|@developer\.gserviceaccount\.com$",
            ),
            Reference("networkConfig.additionalNodeNetworkConfigs[].network", NETWORK, NOT_FOUND, IN_USE),
            Reference(
                "networkConfig.additionalNodeNetworkConfigs[].subnetwork",
                SUBNET,
                NOT_FOUND,
                IN_USE,
                unless=r"^default-subnet-1-",  # made with its VPC by the network profile of bare metal
            ),
            # One that is not there may be somebody's own, made outside.
            Reference("placementPolicy.policyName", RESOURCE_POLICY, holds=IN_USE),
        ),
        machines=("nodeConfig.machineType",),
        nodes="initialNodeCount",
        check=_check_pool,
        create=_create_pool,
        id=lambda call: f"{cluster_of(call)}/nodePools/{call.name}",
        outputs=_pool_outputs,
    ),
)
