"""Azure's functions that programs ask before and after they build."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.rule import Account, CloudError
from gpuplatform.sandbox.cloud.world import World

__all__ = ["FUNCTIONS", "TENANT", "guid"]

TENANT = "72f988bf-0000-0000-0000-000000000000"
CLUSTER = "azure-native:containerservice:ManagedCluster"


def guid(*parts: str) -> str:
    """A GUID that depends on the parts alone."""
    digits = wire.digest(*parts, length=32)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _client_config(account: Account, _args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    return {
        "clientId": guid("client"),
        "objectId": guid("object"),
        "subscriptionId": account.owner,
        "tenantId": TENANT,
    }


def cluster_id(account: Account, group: str, name: str) -> str:
    """The ARM id of a managed cluster."""
    return (
        f"/subscriptions/{account.owner}/resourceGroups/{group}/providers/Microsoft.ContainerService"
        f"/managedClusters/{name}"
    )


def _credentials(account: Account, args: Mapping[str, Any], world: World) -> dict[str, Any]:
    """What `az aks get-credentials` gets: for a cluster with Entra, no secret but an exec entry."""
    group, name = args["resourceGroupName"], args["resourceName"]
    thing = world.named(CLUSTER, cluster_id(account, group, name).lower())
    if thing is None:
        raise CloudError(
            f"Code=ResourceNotFound: The Resource 'Microsoft.ContainerService/managedClusters/{name}' under"
            f" resource group '{group}' was not found."
        )
    outputs = wire.plain(thing.outputs)
    host = outputs.get("privateFQDN") or outputs["fqdn"]
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": name,
                "cluster": {
                    "server": f"https://{host}:443",
                    "certificate-authority-data": base64.b64encode(b"sandbox").decode(),
                },
            }
        ],
        "users": [{"name": "clusterUser", "user": {"exec": {"command": "kubelogin", "args": ["get-token"]}}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "clusterUser"}}],
        "current-context": name,
    }
    text = json.dumps(config)
    value = base64.b64encode(text.encode()).decode()
    return {"kubeconfigs": wire.secret([{"name": "clusterUser", "value": value}])}


FUNCTIONS = {
    "azure-native:authorization:getClientConfig": _client_config,
    "azure-native:containerservice:listManagedClusterUserCredentials": _credentials,
}
