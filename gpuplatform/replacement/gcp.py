"""Google Cloud. Source: hashicorp/terraform-provider-google's `ForceNew`, read in 2026.

google/services/container/{node_config,resource_container_node_pool,resource_container_cluster}.go and
google/services/compute.
"""

from __future__ import annotations

from typing import Final

from gpuplatform.replacement.rule import Replacement

__all__ = ["ALWAYS", "REPLACEMENTS"]

ALWAYS: Final[tuple[str, ...]] = ()
"""No input replaces every type."""

_NODE_CONFIG_IN_PLACE = tuple(
    f"nodeConfig.{name}"
    for name in (
        "containerdConfig", "diskSizeGb", "diskType", "fastSocket", "imageType", "kubeletConfig", "labels",
        "linuxNodeConfig", "loggingVariant", "machineType", "resourceLabels", "resourceManagerTags", "tags",
        "taints", "workloadMetadataConfig",
    )
)  # fmt: skip
"""All else of nodeConfig is ForceNew (schemaNodeConfig in node_config.go)."""

REPLACEMENTS: Final = (
    Replacement(
        "gcp:compute/network:Network",
        replace=("autoCreateSubnetworks", "description", "project", "internalIpv6Range", "networkProfile"),
    ),
    Replacement(
        "gcp:compute/subnetwork:Subnetwork",
        replace=("network", "region", "project", "description", "purpose"),
    ),
    Replacement(
        "gcp:compute/router:Router",
        replace=("network", "region", "project"),
    ),
    Replacement(
        "gcp:compute/routerNat:RouterNat",
        replace=("router", "region", "project"),
    ),
    Replacement(
        "gcp:compute/firewall:Firewall",
        replace=("network", "project", "direction"),
    ),
    Replacement(
        "gcp:compute/address:Address",
        replace=("region", "addressType", "network", "purpose"),
    ),
    Replacement(
        "gcp:compute/resourcePolicy:ResourcePolicy",
        replace=("region", "groupPlacementPolicy", "workloadPolicy"),
    ),
    Replacement(
        "gcp:serviceaccount/account:Account",
        name="accountId",
        replace=("project",),
    ),
    Replacement(
        "gcp:projects/iAMMember:IAMMember",
        name="",
        replace=("project", "role", "member", "condition"),
    ),
    Replacement(
        "gcp:serviceaccount/iAMMember:IAMMember",
        name="",
        replace=("serviceAccountId", "role", "member", "condition"),
    ),
    Replacement(
        "gcp:projects/service:Service",
        name="",
        replace=("service", "project"),
    ),
    Replacement(
        "gcp:kms/keyRing:KeyRing",
        replace=("location", "project"),
    ),
    Replacement(
        "gcp:kms/cryptoKey:CryptoKey",
        replace=("keyRing", "purpose", "importOnly"),
    ),
    Replacement(
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        name="",
        replace=("cryptoKeyId", "role", "member"),
    ),
    Replacement(
        "gcp:container/cluster:Cluster",
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
        ),
        in_place=_NODE_CONFIG_IN_PLACE,
    ),
    Replacement(
        "gcp:container/nodePool:NodePool",
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
        ),
        in_place=_NODE_CONFIG_IN_PLACE,
    ),
)
