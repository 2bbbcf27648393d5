"""Arguments to vary, an environment of them, and what Azure would answer for each resource."""

from __future__ import annotations

import base64
import json
from ipaddress import IPv4Network
from typing import Any

from profiles import made_profile

from gpuplatform.azure import (
    AksCluster,
    AksClusterArgs,
    AksClusterIds,
    AksGpuPool,
    AksGpuPoolArgs,
    AzureNetwork,
    AzureNetworkArgs,
    AzureNetworkIds,
)
from gpuplatform.plan.recorder import Registered
from gpuplatform.profile import AksDriver, CapacityPlan, NodeProfile
from gpuplatform.tags import Tags

SUBSCRIPTION = "00000000-0000-4000-8000-000000000001"
TENANT = "00000000-0000-4000-8000-00000000000e"
TAGS = Tags(
    environment="prod",
    project="vision",
    team="vision",
    cost_center="4711",
    owner="ml@example.com",
    expires="2027-01-31",
    experiment="scaling-laws",
)
FQDN = {"fqdn": "vision-prod.hcp.eastus.azmk8s.io", "privateFQDN": "vision-prod.privatelink.eastus.azmk8s.io"}
CA = base64.b64encode(b"the certificate authority").decode()


def aks_kubeconfig(server: str = "https://vision-prod.hcp.eastus.azmk8s.io:443") -> str:
    """What listClusterUserCredential returns: a kubeconfig whose login only a person can answer."""
    config = {
        "clusters": [{"name": "x", "cluster": {"server": server, "certificate-authority-data": CA}}],
        "users": [
            {"name": "u", "user": {"exec": {"command": "kubelogin", "args": ["--login", "devicecode"]}}}
        ],
    }
    return base64.b64encode(json.dumps(config).encode()).decode()


def computed(resource: Registered) -> dict[str, Any]:
    """What Azure adds to a resource: an ARM ID, its name, and what is particular to its type."""
    kind = resource.type.rsplit(":", 1)[-1]
    physical = next(
        (resource.inputs[key] for key in _NAME_KEYS if key in resource.inputs and key != "resourceGroupName"),
        resource.inputs.get("resourceGroupName", resource.name),
    )
    group = resource.inputs.get("resourceGroupName", "none")
    answer: dict[str, Any] = {
        "id": f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/{kind}/{physical}",
        "name": physical,
    }
    if kind == "Vault":
        answer["name"] = f"{resource.name}1a2b3c4d"  # Azure has it as Pulumi made it up
    if kind == "Release":
        answer["status"] = {"status": "deployed"}
    if kind == "AmlFilesystem":
        answer["clientInfo"] = {"mgsAddress": "10.0.128.4"}
    if kind == "UserAssignedIdentity":
        answer |= {
            "principalId": f"{physical}-principal",
            "clientId": f"{physical}-client",
            "tenantId": TENANT,
        }
    if kind == "PublicIPAddress":
        answer["ipAddress"] = "20.1.2.3"
    if kind == "ManagedCluster":
        answer |= {
            **FQDN,
            "oidcIssuerProfile": {"enabled": True, "issuerURL": "https://eastus.oic.prod-aks.azure.com/t/c/"},
            "identity": {"type": "UserAssigned", "userAssignedIdentities": {"/an/identity": {}}},
        }
    return answer


_NAME_KEYS = (
    "containerName",
    "shareName",
    "blobServicesName",
    "fileServicesName",
    "managementPolicyName",
    "accountName",
    "keyName",
    "federatedIdentityCredentialResourceName",
    "amlFilesystemName",
    "privateDnsZoneGroupName",
    "privateEndpointName",
    "virtualNetworkLinkName",
    "privateZoneName",
    "budgetName",
    "lockName",
    "roleDefinitionId",
    "agentPoolName",
    "resourceName",
    "subnetName",
    "virtualNetworkName",
    "natGatewayName",
    "proximityPlacementGroupName",
    "publicIpAddressName",
    "networkSecurityGroupName",
    "roleAssignmentName",
    "resourceGroupName",
)


def network_args(**changes: Any) -> AzureNetworkArgs:
    values: dict[str, Any] = {
        "name": "vision-prod",
        "cidr": IPv4Network("10.0.0.0/16"),
        "zones": ("1", "2"),
        "nodes_max": 20,
        "region": "eastus",
        "tags": TAGS,
    }
    return AzureNetworkArgs(**values | changes)


def network_ids() -> AzureNetworkIds:
    return AzureNetworkIds(
        resource_group_name="theirs",
        node_subnet_id=f"/subscriptions/{SUBSCRIPTION}/resourceGroups/theirs/providers/subnets/nodes",
        egress_cidrs=("20.9.9.9/32",),
        zones=("3",),
    )


def cluster_args(**changes: Any) -> AksClusterArgs:
    values: dict[str, Any] = {
        "name": "vision-prod",
        "region": "eastus",
        "kubernetes_version": "1.35",
        "network": network_ids(),
        "admins": ("00000000-0000-4000-8000-0000000000aa",),
        "system_sku": "Standard_D4s_v5",
        "system_min": 2,
        "system_max": 4,
        "tags": TAGS,
    }
    return AksClusterArgs(**values | changes)


def profile(**changes: Any) -> NodeProfile:
    values: dict[str, Any] = {
        "pool": "train",
        "sku": "Standard_ND96isr_H100_v5",
        "image": "Ubuntu",
        "labels": {"nvidia.com/gpu.present": "true"},
    }
    return made_profile(changes.pop("driver", AksDriver()), *changes.pop("taints", ()), **values | changes)


def pool_args(**changes: Any) -> AksGpuPoolArgs:
    values: dict[str, Any] = {
        "cluster": AksClusterIds(
            resource_group_name="theirs",
            cluster_name="vision-prod",
            node_subnet_id="/subscriptions/s/subnets/nodes",
            kubernetes_version="1.35",
        ),
        "profile": profile(),
        "nodes_min": 0,
        "nodes_max": 4,
        "zones": ("1",),
        "tags": TAGS,
    }
    return AksGpuPoolArgs(**values | changes)


def build_environment(**cluster: Any) -> AksCluster:
    network = AzureNetwork("network", network_args(protect=True))
    made = AksCluster("cluster", cluster_args(network=network, protect=True, **cluster))
    AksGpuPool("pool-train", pool_args(cluster=made))
    spot = profile(pool="serve", sku="Standard_NC40ads_H100_v5", capacity=CapacityPlan(kind="spot"))
    AksGpuPool("pool-serve", pool_args(cluster=made, profile=spot))
    return made
