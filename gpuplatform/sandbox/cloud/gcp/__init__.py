"""The simulated Google Cloud: what GKE clusters stand on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuplatform.sandbox.cloud import machines, wire
from gpuplatform.sandbox.cloud.gcp import (
    cluster,
    federation,
    filesystems,
    identity,
    keys,
    money,
    network,
    storage,
)
from gpuplatform.sandbox.cloud.gcp.cluster import cluster_of
from gpuplatform.sandbox.cloud.gcp.common import (
    CLUSTER,
    COMPUTE,
    NETWORK,
    POOL,
    RESOURCE_POLICY,
    RING,
    ROUTER,
    SUBNET,
    normal,
    project_of,
)
from gpuplatform.sandbox.cloud.gcp.functions import FUNCTIONS
from gpuplatform.sandbox.cloud.names import BRIDGED
from gpuplatform.sandbox.cloud.rule import (
    Account,
    Call,
    Cloud,
    by_token,
)
from gpuplatform.sandbox.cloud.world import World

__all__ = ["CLOUD", "DEFAULT_PROJECT"]

DEFAULT_PROJECT = "sandbox-project"

_CONTAINER = "https://container.googleapis.com/v1/"


def _account(config: Mapping[str, Any], _world: World) -> Account:
    owner = config.get("project") or DEFAULT_PROJECT
    return Account(owner=owner, region=config.get("region") or "us-central1", scope=owner, config=config)


_PATHS = {
    NETWORK: "global/networks",
    SUBNET: "regions/{region}/subnetworks",
    ROUTER: "regions/{region}/routers",
    "gcp:compute/firewall:Firewall": "global/firewalls",
    "gcp:compute/address:Address": "regions/{region}/addresses",
    "gcp:compute/globalAddress:GlobalAddress": "global/addresses",
    RESOURCE_POLICY: "regions/{region}/resourcePolicies",
    "gcp:compute/reservation:Reservation": "zones/{zone}/reservations",
    CLUSTER: "locations/{location}/clusters",
    RING: "locations/{location}/keyRings",
}


def _id(call: Call) -> str:
    path = _PATHS.get(call.token)
    if path:
        place = {"region": call.region, "location": call.region, "zone": call.get("zone")}
        return f"projects/{project_of(call)}/{path.format(**place)}/{call.name}"
    kind = call.token.rpartition(":")[2]
    unnamed = wire.digest(call.urn, str(call.world.made()), length=10)
    return f"projects/{project_of(call)}/{kind[0].lower()}{kind[1:]}s/{call.name or unnamed}"


def _outputs(call: Call) -> dict[str, Any]:
    base = _CONTAINER if call.token.startswith("gcp:container/") else COMPUTE
    labels = {**(call.account.config.get("defaultLabels") or {}), **(call.get("labels") or {})}
    return {
        "name": call.name,
        "project": project_of(call),
        "region": call.region,
        "location": call.region,
        "selfLink": f"{base}{call.id}",
        "creationTimestamp": call.created,
        "effectiveLabels": labels,
        "pulumiLabels": labels,
    }


def _handles(call: Call, outputs: Mapping[str, Any]) -> Iterator[str]:
    yield from (call.id, call.name, outputs.get("selfLink", ""))


def _offered(call: Call, sku: str) -> None:
    cluster = call.world.named(CLUSTER, cluster_of(call)) if call.token == POOL else None
    region = re.sub(r"-[a-z]$", "", str(cluster.outputs["location"]) if cluster else call.region)
    machines.refuse(
        "gcp",
        sku,
        region,
        [zone for zone in wire.at(call.inputs, "nodeLocations[]") if isinstance(zone, str)],
        unknown=f"googleapi: Error 400: Machine type with name '{sku}' does not exist, badRequest",
        not_in_region=(
            f"googleapi: Error 400: Machine type '{sku}' does not exist in region '{region}', badRequest"
        ),
        not_in_zone=lambda zone: (
            f"googleapi: Error 400: Machine type with name '{sku}' does not exist in zone '{zone}'.,"
            f" badRequest"
        ),
    )


CLOUD = Cloud(
    package="gcp",
    rules=by_token(
        (
            *network.RULES,
            *identity.RULES,
            *cluster.RULES,
            *keys.RULES,
            *storage.RULES,
            *filesystems.RULES,
            *federation.RULES,
            *money.RULES,
        )
    ),
    account=_account,
    naming=BRIDGED,
    id=_id,
    outputs=_outputs,
    handles=_handles,
    normal=normal,
    conflict=lambda call: f"googleapi: Error 409: The resource '{call.id}' already exists, alreadyExists",
    gone="googleapi: Error 404: The resource '{id}' was not found, notFound",
    immutable="googleapi: Error 400: {path} is immutable",
    offered=_offered,
    stockout=(
        "Error waiting for creating GKE NodePool: GCE_STOCKOUT: ZONE_RESOURCE_POOL_EXHAUSTED: {where}"
        " does not have"
        " enough resources available to fulfill the request for {sku}."
    ),
    quota="googleapi: Error 403: Quota for the GPUs of {sku} exceeded in region {where}., quotaExceeded",
    throttled="googleapi: Error 429: Quota exceeded for quota metric 'Queries', rateLimitExceeded",
    timeout="Error waiting for creating: timeout while waiting for state to become 'DONE'",
    invokes=FUNCTIONS,
)
