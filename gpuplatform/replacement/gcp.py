"""Google Cloud. Source: hashicorp/terraform-provider-google's `ForceNew`, as of 2026-08-21.

google/services/container/{node_config,resource_container_node_pool,resource_container_cluster}.go,
google/services/{compute,kms,resourcemanager,lustre,filestore,storage,billing,servicenetworking}. What IAM's
pools, custom roles and notification channels replace is from the SDK's descriptions and the REST references.

`enableMultiNetworking` updates in place since #22924.
"""

from __future__ import annotations

from typing import Final

from gpuplatform.replacement.rule import Replacement

__all__ = ["ALWAYS", "REPLACEMENTS"]

ALWAYS: Final[tuple[str, ...]] = ()
"""No input replaces every type."""

_NODE_CONFIG_FIXED = tuple(
    f"nodeConfig.{name}"
    for name in (
        "advancedMachineFeatures", "bootDiskKmsKey", "confidentialNodes.confidentialInstanceType",
        "enableConfidentialStorage", "ephemeralStorageLocalSsdConfig", "flexStart", "guestAccelerators",
        "hostMaintenancePolicy", "localNvmeSsdBlockConfig", "localSsdCount", "localSsdEncryptionMode",
        "maxRunDuration", "metadata", "minCpuPlatform", "nodeGroup", "oauthScopes", "preemptible",
        "reservationAffinity", "sandboxConfig", "secondaryBootDisks", "serviceAccount",
        "shieldedInstanceConfig", "soleTenantConfig", "spot",
    )
)  # fmt: skip
"""ForceNew in schemaNodeConfig, node_config.go; the others update in place, the machine type among them."""

REPLACEMENTS: Final = (
    Replacement(
        "gcp:compute/network:Network",
        replace=(
            "autoCreateSubnetworks",
            "description",
            "internalIpv6Range",
            "networkProfile",
            "params",
            "project",
        ),
    ),
    Replacement(
        "gcp:compute/subnetwork:Subnetwork",
        replace=(
            "description",
            "externalIpv6Prefix",
            "internalIpv6Prefix",
            "network",
            "params",
            "project",
            "region",
            "reservedInternalRange",
            "resolveSubnetMask",
        ),
        smaller_replaces=("ipCidrRange",),  # IsShrinkageIpCidr
    ),
    Replacement(
        "gcp:compute/router:Router",
        replace=(
            "encryptedInterconnectRouter",
            "nccGateway",
            "network",
            "params",
            "project",
            "region",
        ),
    ),
    Replacement(
        "gcp:compute/routerNat:RouterNat",
        replace=(
            "endpointTypes",
            "initialNatIps",
            "project",
            "region",
            "router",
            "type",
        ),
    ),
    Replacement(
        "gcp:compute/firewall:Firewall",
        replace=(
            "direction",
            "params",
            "project",
        ),
    ),
    Replacement(
        "gcp:compute/address:Address",
        replace=(
            "address",
            "addressType",
            "description",
            "ipCollection",
            "ipVersion",
            "ipv6EndpointType",
            "network",
            "networkTier",
            "prefixLength",
            "project",
            "purpose",
            "region",
            "subnetwork",
        ),
    ),
    Replacement(
        "gcp:compute/resourcePolicy:ResourcePolicy",
        replace=(
            "diskConsistencyGroupPolicy.enabled",
            "groupPlacementPolicy.gpuTopology",
            "project",
            "region",
            "workloadPolicy.acceleratorTopology",
            "workloadPolicy.maxTopologyDistance",
            "workloadPolicy.type",
        ),
    ),
    Replacement(
        "gcp:serviceaccount/account:Account",
        name="accountId",
        replace=("project",),
    ),
    Replacement(
        "gcp:projects/iAMMember:IAMMember",
        name="",
        replace=(
            "project",
            "role",
            "member",
            "condition",
        ),
    ),
    Replacement(
        "gcp:serviceaccount/iAMMember:IAMMember",
        name="",
        replace=(
            "serviceAccountId",
            "role",
            "member",
            "condition",
        ),
    ),
    Replacement(
        "gcp:projects/service:Service",
        name="",
        replace=(
            "service",
            "project",
        ),
    ),
    Replacement(
        "gcp:kms/keyRing:KeyRing",
        replace=(
            "location",
            "project",
        ),
    ),
    Replacement(
        "gcp:kms/cryptoKey:CryptoKey",
        replace=(
            "cryptoKeyBackend",
            "destroyScheduledDuration",
            "importOnly",
            "keyRing",
            "purpose",
            "versionTemplate.protectionLevel",
        ),
    ),
    Replacement(
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        name="",
        replace=(
            "cryptoKeyId",
            "role",
            "member",
        ),
    ),
    Replacement(
        "gcp:storage/bucket:Bucket",
        replace=(
            "customPlacementConfig",
            "enableObjectRetention",
            "hierarchicalNamespace",
            "location",
            "project",
        ),
    ),
    Replacement(
        "gcp:storage/bucketIAMMember:BucketIAMMember",
        name="",
        replace=(
            "bucket",
            "role",
            "member",
            "condition",
        ),
    ),
    Replacement(
        "gcp:compute/globalAddress:GlobalAddress",
        replace=(
            "address",
            "addressType",
            "description",
            "ipVersion",
            "network",
            "prefixLength",
            "project",
            "purpose",
        ),
    ),
    Replacement(
        "gcp:servicenetworking/connection:Connection",
        name="",
        replace=(
            "network",
            "service",
        ),
    ),
    Replacement(
        "gcp:lustre/instance:Instance",
        name="instanceId",
        replace=(
            "filesystem",
            "location",
            "network",
            "project",
        ),
        # cloud.google.com/managed-lustre/docs/create-instance: the tier of what exists cannot be changed.
        immutable=("perUnitStorageThroughput",),
        # "Capacity cannot be decreased": https://cloud.google.com/managed-lustre/docs/increase-capacity
        smaller_refused=("capacityGib",),
    ),
    Replacement(
        "gcp:filestore/instance:Instance",
        replace=(
            "fileShares.name",
            "initialReplication",
            "kmsKeyName",
            "location",
            "networks",
            "project",
            "protocol",
            "tags",
            "tier",
            "zone",
        ),
        # Zonal instances scale up and down inside of a capacity range, and never into the other one
        # (https://cloud.google.com/filestore/docs/service-tiers-zonal).
        never_across=(("fileShares.capacityGb", 10_240),),
    ),
    Replacement(
        "gcp:iam/workloadIdentityPool:WorkloadIdentityPool",
        name="workloadIdentityPoolId",
        replace=("project",),
        immutable=("mode",),
    ),
    Replacement(
        "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
        name="workloadIdentityPoolProviderId",
        replace=(
            "project",
            "workloadIdentityPoolId",
        ),
    ),
    Replacement(
        "gcp:projects/iAMCustomRole:IAMCustomRole",
        name="roleId",
        replace=("project",),
    ),
    Replacement(
        "gcp:monitoring/notificationChannel:NotificationChannel",
        name="",
        replace=("project",),
    ),
    Replacement(
        "gcp:billing/budget:Budget",
        name="",
        replace=("billingAccount",),
    ),
    Replacement(
        "gcp:container/cluster:Cluster",
        replace=(
            "clusterAutoscaling.autoProvisioningDefaults.bootDiskKmsKey",
            "clusterIpv4Cidr",
            "confidentialNodes",
            "datapathProvider",
            "dataplaneOptimizationMode",
            "defaultMaxPodsPerNode",
            "description",
            "enableAutopilot",
            "enableKubernetesAlpha",
            "enableTpu",
            "initialNodeCount",
            "ipAllocationPolicy.clusterIpv4CidrBlock",
            "ipAllocationPolicy.clusterSecondaryRangeName",
            "ipAllocationPolicy.podCidrOverprovisionConfig",
            "ipAllocationPolicy.servicesIpv4CidrBlock",
            "ipAllocationPolicy.servicesSecondaryRangeName",
            "location",
            "masterAuth.clientCertificateConfig",
            "network",
            "networkingMode",
            "privateClusterConfig.masterIpv4CidrBlock",
            "privateClusterConfig.privateEndpointSubnetwork",
            "project",
            "subnetwork",
            "userManagedKeysConfig.aggregationCa",
            "userManagedKeysConfig.clusterCa",
            "userManagedKeysConfig.etcdApiCa",
            "userManagedKeysConfig.etcdPeerCa",
            *_NODE_CONFIG_FIXED,
        ),
    ),
    Replacement(
        "gcp:container/nodePool:NodePool",
        replace=(
            "cluster",
            "initialNodeCount",
            "location",
            "maxPodsPerNode",
            "namePrefix",
            "networkConfig.acceleratorNetworkProfile",
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
            *_NODE_CONFIG_FIXED,
        ),
    ),
)
