"""The simulated Google Cloud: what GKE clusters stand on.

Which inputs force a replacement is hashicorp/terraform-provider-google's `ForceNew`: google/services/container/
{node_config,resource_container_node_pool,resource_container_cluster}.go and google/services/compute, read 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import machines, wire
from gpuplatform.sandbox.cloud.addresses import overlapping, valid
from gpuplatform.sandbox.cloud.gcp_functions import FUNCTIONS, project_number, zones
from gpuplatform.sandbox.cloud.names import BRIDGED
from gpuplatform.sandbox.cloud.rule import (
    Account,
    Call,
    Cloud,
    CloudError,
    NameRule,
    Reference,
    Rule,
    by_token,
)
from gpuplatform.sandbox.cloud.world import API, World
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["CLOUD", "DEFAULT_PROJECT"]

DEFAULT_PROJECT = "sandbox-project"

NETWORK = "gcp:compute/network:Network"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
ROUTER = "gcp:compute/router:Router"
CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
ACCOUNT = "gcp:serviceaccount/account:Account"
RING = "gcp:kms/keyRing:KeyRing"

_COMPUTE = "https://www.googleapis.com/compute/v1/"
_CONTAINER = "https://container.googleapis.com/v1/"

_NOT_FOUND = "googleapi: Error 404: The resource '{value}' was not found, notFound"
_IN_USE = "googleapi: Error 400: The resource '{id}' is already being used by '{by}', resourceInUseByAnotherResource"


def _account(config: Mapping[str, Any], _world: World) -> Account:
    owner = config.get("project") or DEFAULT_PROJECT
    return Account(owner=owner, region=config.get("region") or "us-central1", scope=owner, config=config)


def _normal(handle: str) -> str:
    """A link, a path below the project and a bare name are three ways to say one thing."""
    return re.sub(r"^https://(www|container|compute)\.googleapis\.com/(compute/)?v\d+(beta\d+)?/", "", handle)


def _project(call: Call) -> str:
    project = call.get("project")
    return project if isinstance(project, str) else call.account.owner


_PATHS = {
    NETWORK: "global/networks",
    SUBNET: "regions/{region}/subnetworks",
    ROUTER: "regions/{region}/routers",
    "gcp:compute/firewall:Firewall": "global/firewalls",
    "gcp:compute/address:Address": "regions/{region}/addresses",
    "gcp:compute/globalAddress:GlobalAddress": "global/addresses",
    "gcp:compute/resourcePolicy:ResourcePolicy": "regions/{region}/resourcePolicies",
    "gcp:compute/reservation:Reservation": "zones/{zone}/reservations",
    CLUSTER: "locations/{location}/clusters",
    RING: "locations/{location}/keyRings",
}


def _id(call: Call) -> str:
    path = _PATHS.get(call.token)
    if path:
        place = {"region": call.region, "location": call.region, "zone": call.get("zone")}
        return f"projects/{_project(call)}/{path.format(**place)}/{call.name}"
    kind = call.token.rpartition(":")[2]
    unnamed = wire.digest(call.urn, str(call.world.made()), length=10)
    return f"projects/{_project(call)}/{kind[0].lower()}{kind[1:]}s/{call.name or unnamed}"


def _outputs(call: Call) -> dict[str, Any]:
    base = _CONTAINER if call.token.startswith("gcp:container/") else _COMPUTE
    labels = {**(call.account.config.get("defaultLabels") or {}), **(call.get("labels") or {})}
    return {
        "name": call.name,
        "project": _project(call),
        "region": call.region,
        "location": call.region,
        "selfLink": f"{base}{call.id}",
        "creationTimestamp": call.created,
        "effectiveLabels": labels,
        "pulumiLabels": labels,
    }


def _handles(call: Call, outputs: Mapping[str, Any]) -> Iterator[str]:
    yield from (call.id, call.name, outputs.get("selfLink", ""))


# The network


def _check_subnet(call: Call) -> Iterator[Problem]:
    ranges = [("ipCidrRange", call.get("ipCidrRange"))]
    ranges += [
        (f"secondaryIpRanges[{i}].ipCidrRange", entry.get("ipCidrRange"))
        for i, entry in enumerate(wire.at(call.inputs, "secondaryIpRanges[]"))
    ]
    for path, cidr in ranges:
        if cidr not in (None, wire.UNKNOWN) and not valid(cidr):
            yield Problem(path, f"{cidr!r} is no CIDR block")


def _ranges(inputs: Mapping[str, Any]) -> list[str]:
    return [*wire.at(inputs, "ipCidrRange"), *wire.at(inputs, "secondaryIpRanges[].ipCidrRange")]


def _create_subnet(call: Call) -> None:
    network = _normal(str(call.get("network")))
    for sibling in call.world.linked(NETWORK, network, SUBNET):
        for cidr in _ranges(call.inputs):
            if overlapping(cidr, _ranges(wire.plain(sibling.inputs))):
                raise CloudError(
                    f"googleapi: Error 400: Invalid IPCidrRange: {cidr} conflicts with existing subnetwork"
                    f" '{sibling.name}' in region '{sibling.outputs.get('region')}'., invalidIPCidrRange"
                )


def _subnet_outputs(call: Call) -> dict[str, Any]:
    cidr = str(call.get("ipCidrRange", ""))
    return {"gatewayAddress": re.sub(r"\d+/\d+$", "1", cidr)}


def _nat_id(call: Call) -> str:
    return f"{_project(call)}/{call.region}/{call.get('router')}/{call.name}"


# GKE


def _check_cluster(call: Call) -> Iterator[Problem]:
    block = call.get("privateClusterConfig.masterIpv4CidrBlock")
    if block and not str(block).endswith("/28"):
        yield Problem("privateClusterConfig.masterIpv4CidrBlock", f"{block!r} must be a /28")
    if call.get("removeDefaultNodePool") and not call.get("initialNodeCount") and not call.get("nodePools"):
        yield Problem("initialNodeCount", "removeDefaultNodePool needs an initialNodeCount of 1")


def _create_cluster(call: Call) -> None:
    subnet = call.world.named(SUBNET, _normal(str(call.get("subnetwork"))))
    if subnet is None:
        return
    known = set(wire.at(wire.plain(subnet.inputs), "secondaryIpRanges[].rangeName"))
    for path in ("clusterSecondaryRangeName", "servicesSecondaryRangeName"):
        name = call.get(f"ipAllocationPolicy.{path}")
        if name and name not in known:
            raise CloudError(
                f"googleapi: Error 400: The secondary range {name!r} does not exist in subnetwork {subnet.name!r}."
            )


def _delete_cluster(call: Call) -> None:
    if call.get("deletionProtection", True):
        raise CloudError(
            "Cannot destroy cluster because deletion_protection is set to true. Set it to false to proceed with"
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
        "endpoint": f"{address}",
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
                "endpoint": f"gke-{wire.digest(call.id, length=28)}-{project_number(_project(call))}"
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


def _cluster_of(call: Call) -> str:
    """`cluster` takes an id or a name; a name needs the pool's own location."""
    cluster = _normal(str(call.get("cluster")))
    if cluster.startswith("projects/"):
        return cluster
    return f"projects/{_project(call)}/locations/{call.region}/clusters/{cluster}"


def _check_pool(call: Call) -> Iterator[Problem]:
    scaling = "autoscaling."
    for least, most in (("minNodeCount", "maxNodeCount"), ("totalMinNodeCount", "totalMaxNodeCount")):
        low, high = call.get(scaling + least, 0), call.get(scaling + most)
        if high is not None and low > high:
            yield Problem(scaling + least, f"{low:g} is more than {most}, {high:g}")
    if call.get(f"{scaling}minNodeCount") is not None and call.get(f"{scaling}totalMaxNodeCount") is not None:
        yield Problem("autoscaling", "limits per zone and total limits exclude one another")
    if call.get("queuedProvisioning.enabled"):
        kind = call.get("nodeConfig.reservationAffinity.consumeReservationType")
        if kind != "NO_RESERVATION":
            yield Problem(
                "nodeConfig.reservationAffinity",
                "Queued_provisioning requires reservation affinity to be set to none (NO_RESERVATION)",
            )


def _create_pool(call: Call) -> None:
    cluster = call.world.named(CLUSTER, _cluster_of(call))
    extra = list(wire.at(call.inputs, "networkConfig.additionalNodeNetworkConfigs[]"))
    if cluster and extra and not cluster.inputs.get("enableMultiNetworking"):
        raise CloudError(
            "googleapi: Error 400: Additional node networks need a cluster with multi-networking enabled; it can"
            " only be enabled when the cluster is created."
        )


def _pool_outputs(call: Call) -> dict[str, Any]:
    cluster = call.world.named(CLUSTER, _cluster_of(call))
    nodes = call.get("nodeLocations") or (wire.plain(cluster.outputs)["nodeLocations"] if cluster else [])
    groups = [
        f"{_COMPUTE}projects/{_project(call)}/zones/{zone}/instanceGroupManagers/gke-{call.name}-grp"
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


def _email(call: Call) -> str:
    return f"{call.get('accountId')}@{_project(call)}.iam.gserviceaccount.com"


def _account_outputs(call: Call) -> dict[str, Any]:
    email = _email(call)
    return {
        "email": email,
        "member": f"serviceAccount:{email}",
        "name": f"projects/{_project(call)}/serviceAccounts/{email}",
        "uniqueId": str(int(wire.digest(call.id, length=15), 16)),
    }


def _member_id(*parts: str) -> Any:
    def make(call: Call) -> str:
        return "/".join(str(call.get(part, _project(call) if part == "project" else "")) for part in parts)

    return make


_NAME = NameRule(
    r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", "1 to 63 of lower-case letters, digits and -, first a letter"
)
_GKE_NAME = NameRule(
    r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", "1 to 40 of lower-case letters, digits and -, first a letter"
)
_IN_NETWORK = Reference("network", NETWORK, _NOT_FOUND, _IN_USE)
_NODE_CONFIG_IN_PLACE = tuple(
    f"nodeConfig.{name}"
    for name in (
        "containerdConfig", "diskSizeGb", "diskType", "fastSocket", "imageType", "kubeletConfig", "labels",
        "linuxNodeConfig", "loggingVariant", "machineType", "resourceLabels", "resourceManagerTags", "tags",
        "taints", "workloadMetadataConfig",
    )
)  # fmt: skip
"""All else of nodeConfig is ForceNew (schemaNodeConfig in node_config.go)."""

_RULES = (
    Rule(
        NETWORK,
        names=_NAME,
        replace=("autoCreateSubnetworks", "description", "project", "internalIpv6Range", "networkProfile"),
    ),
    Rule(
        SUBNET,
        names=_NAME,
        replace=("network", "region", "project", "description", "purpose", "secondaryIpRanges[].rangeName"),
        references=(_IN_NETWORK,),
        check=_check_subnet,
        create=_create_subnet,
        outputs=_subnet_outputs,
    ),
    Rule(ROUTER, names=_NAME, replace=("network", "region", "project"), references=(_IN_NETWORK,)),
    Rule(
        "gcp:compute/routerNat:RouterNat",
        names=_NAME,
        replace=("router", "region", "project"),
        references=(
            # A NAT is a part of its router, gone with it.
            Reference("router", ROUTER, _NOT_FOUND, cascades=True),
        ),
        id=_nat_id,
    ),
    Rule(
        "gcp:compute/firewall:Firewall",
        names=_NAME,
        replace=("network", "project", "direction"),
        references=(_IN_NETWORK,),
    ),
    Rule(
        "gcp:compute/address:Address",
        names=_NAME,
        replace=("region", "addressType", "network", "purpose"),
    ),
    Rule(
        "gcp:compute/resourcePolicy:ResourcePolicy",
        names=_NAME,
        replace=("region", "groupPlacementPolicy"),
    ),
    Rule(
        CLUSTER,
        names=_GKE_NAME,
        replace=(
            "clusterIpv4Cidr",
            "confidentialNodes",
            "datapathProvider",
            "defaultMaxPodsPerNode",
            "description",
            "enableAutopilot",
            "enableKubernetesAlpha",
            "enableMultiNetworking",
            "enableTpu",
            "initialNodeCount",
            "ipAllocationPolicy",
            "location",
            "network",
            "networkingMode",
            "nodeConfig",
            "privateClusterConfig.masterIpv4CidrBlock",
            "privateClusterConfig.privateEndpointSubnetwork",
            "project",
            "subnetwork",
        ),  # fmt: skip
        in_place=_NODE_CONFIG_IN_PLACE,
        references=(
            _IN_NETWORK,
            Reference("subnetwork", SUBNET, _NOT_FOUND, _IN_USE),
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
        replace=(
            "cluster",
            "initialNodeCount",
            "location",
            "maxPodsPerNode",
            "namePrefix",
            "nodeConfig",
            "networkConfig.additionalNodeNetworkConfigs",
            "networkConfig.additionalPodNetworkConfigs",
            "networkConfig.createPodRange",
            "networkConfig.podCidrOverprovisionConfig",
            "networkConfig.podIpv4CidrBlock",
            "networkConfig.podRange",
            "networkConfig.subnetwork",
            "placementPolicy",
            "project",
            "queuedProvisioning",
        ),  # fmt: skip
        in_place=_NODE_CONFIG_IN_PLACE,
        references=(
            Reference("cluster", CLUSTER, _NOT_FOUND, cascades=True, value=_cluster_of),
            Reference(
                "nodeConfig.serviceAccount",
                ACCOUNT,
                "googleapi: Error 400: Service account {value} does not exist., badRequest",
                unless=r"^default$|@developer\.gserviceaccount\.com$",
            ),
            Reference("networkConfig.additionalNodeNetworkConfigs[].network", NETWORK, _NOT_FOUND, _IN_USE),
            Reference("networkConfig.additionalNodeNetworkConfigs[].subnetwork", SUBNET, _NOT_FOUND, _IN_USE),
        ),
        machines=("nodeConfig.machineType",),
        nodes="initialNodeCount",
        check=_check_pool,
        create=_create_pool,
        id=lambda call: f"{_cluster_of(call)}/nodePools/{call.name}",
        outputs=_pool_outputs,
    ),
    Rule(
        ACCOUNT,
        name="accountId",
        names=NameRule(r"[a-z]([-a-z0-9]{4,28}[a-z0-9])", "6 to 30 of lower-case letters, digits and -"),
        replace=("project",),
        id=lambda call: f"projects/{_project(call)}/serviceAccounts/{_email(call)}",
        outputs=_account_outputs,
        handles=lambda _call, outputs: [(ACCOUNT, outputs["email"])],
    ),
    Rule(
        "gcp:projects/iAMMember:IAMMember",
        name="",
        replace=("project", "role", "member", "condition"),
        id=_member_id("project", "role", "member"),
    ),
    Rule(
        "gcp:serviceaccount/iAMMember:IAMMember",
        name="",
        replace=("serviceAccountId", "role", "member", "condition"),
        references=(Reference("serviceAccountId", ACCOUNT, _NOT_FOUND, cascades=True),),
        id=_member_id("serviceAccountId", "role", "member"),
    ),
    Rule(
        "gcp:projects/service:Service",
        name="",
        replace=("service", "project"),
        id=_member_id("project", "service"),
    ),
    Rule(RING, replace=("location", "project")),
    Rule(
        "gcp:kms/cryptoKey:CryptoKey",
        replace=("keyRing", "purpose", "importOnly"),
        references=(Reference("keyRing", RING, _NOT_FOUND),),
        id=lambda call: f"{_normal(str(call.get('keyRing')))}/cryptoKeys/{call.name}",
    ),
    Rule(
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        name="",
        replace=("cryptoKeyId", "role", "member"),
        references=(Reference("cryptoKeyId", "gcp:kms/cryptoKey:CryptoKey", _NOT_FOUND),),
        id=_member_id("cryptoKeyId", "role", "member"),
    ),
)


def _offered(call: Call, sku: str) -> None:
    cluster = call.world.named(CLUSTER, _cluster_of(call)) if call.token == POOL else None
    region = re.sub(r"-[a-z]$", "", str(cluster.outputs["location"]) if cluster else call.region)
    machines.refuse(
        "gcp",
        sku,
        region,
        [zone for zone in wire.at(call.inputs, "nodeLocations[]") if isinstance(zone, str)],
        unknown=f"googleapi: Error 400: Machine type with name '{sku}' does not exist, badRequest",
        not_in_region=f"googleapi: Error 400: Machine type '{sku}' does not exist in region '{region}', badRequest",
        not_in_zone=lambda zone: (
            f"googleapi: Error 400: Machine type with name '{sku}' does not exist in zone '{zone}'., badRequest"
        ),
    )


CLOUD = Cloud(
    package="gcp",
    rules=by_token(_RULES),
    account=_account,
    naming=BRIDGED,
    id=_id,
    outputs=_outputs,
    handles=_handles,
    normal=_normal,
    conflict=lambda call: f"googleapi: Error 409: The resource '{call.id}' already exists, alreadyExists",
    gone="googleapi: Error 404: The resource '{id}' was not found, notFound",
    immutable="googleapi: Error 400: {path} is immutable",
    offered=_offered,
    stockout=(
        "Error waiting for creating GKE NodePool: GCE_STOCKOUT: ZONE_RESOURCE_POOL_EXHAUSTED: {where} does not have"
        " enough resources available to fulfill the request for {sku}."
    ),
    quota="googleapi: Error 403: Quota for the GPUs of {sku} exceeded in region {where}., quotaExceeded",
    throttled="googleapi: Error 429: Quota exceeded for quota metric 'Queries', rateLimitExceeded",
    timeout="Error waiting for creating: timeout while waiting for state to become 'DONE' (last state: 'RUNNING')",
    invokes=FUNCTIONS,
)
