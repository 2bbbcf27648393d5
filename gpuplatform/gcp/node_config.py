"""A NodeProfile, part by part, as GKE's API spells a node pool; nothing is decided here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pulumi_gcp import container

from gpuplatform.gcp.fabric import NodeInterface
from gpuplatform.profile import CapacityPlan, GkeDriver, LocalDisks, NodeProfile, Placement, SharedGpu
from gpuplatform.profile.fabric import Fabric, NvlinkDomain, Roce

__all__ = ["accelerator", "bare_metal", "capacity", "local_disks", "network", "placement", "queued"]

RESERVATION_KEY: Final = "compute.googleapis.com/reservation-name"

# What Google's installer for bare-metal NICs takes, 8 GiB of 2 MiB pages
# (GoogleCloudPlatform/cluster-toolkit, examples/gke-a4x-max-bm/gke-a4x-max-bm.yaml).
HUGE_PAGES: Final = 4096

STRATEGIES: Final = {"time-slicing": "TIME_SHARING", "mps": "MPS"}


def accelerator(profile: NodeProfile) -> Any:
    """The GPUs, with the driver's version always spelled out.

    Left out, GKE's default changed with a Kubernetes minor, and the pools were replaced (GoogleCloudPlatform/
    magic-modules#11152).
    """
    version = profile.driver.version if isinstance(profile.driver, GkeDriver) else "INSTALLATION_DISABLED"
    return container.NodePoolNodeConfigGuestAcceleratorArgs(
        type=profile.accelerator,
        count=profile.gpus,
        gpu_driver_installation_config=(
            container.NodePoolNodeConfigGuestAcceleratorGpuDriverInstallationConfigArgs(
                gpu_driver_version=version
            )
        ),
        **_sharing(profile.sharing),
    )


def _sharing(sharing: SharedGpu | None) -> dict[str, Any]:
    if sharing is None or sharing.owner != "gke":
        return {}
    if sharing.kind == "mig":
        return {"gpu_partition_size": sharing.profile}
    return {
        "gpu_sharing_config": container.NodePoolNodeConfigGuestAcceleratorGpuSharingConfigArgs(
            gpu_sharing_strategy=STRATEGIES[sharing.kind], max_shared_clients_per_gpu=sharing.per_gpu
        )
    }


def capacity(plan: CapacityPlan) -> dict[str, Any]:
    """How the machines are bought, in `nodeConfig`.

    Anything but a reservation says that it takes none, wherever Google would otherwise refuse it
    (hashicorp/terraform-provider-google#18341).
    """
    affinity = container.NodePoolNodeConfigReservationAffinityArgs
    match plan.kind:
        case "reservation":
            specific = affinity(
                consume_reservation_type="SPECIFIC_RESERVATION", key=RESERVATION_KEY, values=[plan.id]
            )
            return {"reservation_affinity": specific}
        case "flex-start" | "queued":
            return {
                "flex_start": True,
                "max_run_duration": f"{(plan.max_run_hours or 168) * 3600}s",
                "reservation_affinity": affinity(consume_reservation_type="NO_RESERVATION"),
            }
        case "spot":
            none = affinity(consume_reservation_type="NO_RESERVATION")
            return {"spot": True, "reservation_affinity": none}
        case _:
            return {}


def queued(plan: CapacityPlan) -> dict[str, Any]:
    """Whether the pool grows by provisioning request only."""
    if plan.kind != "queued":
        return {}
    return {"queued_provisioning": container.NodePoolQueuedProvisioningArgs(enabled=True)}


def local_disks(disks: LocalDisks) -> dict[str, Any]:
    """Local SSDs, in `nodeConfig`; a count of 0 is GKE's own word for what the machine type has."""
    match disks.mode:
        case "ephemeral":
            config = container.NodePoolNodeConfigEphemeralStorageLocalSsdConfigArgs(
                local_ssd_count=disks.count
            )
            return {"ephemeral_storage_local_ssd_config": config}
        case "raw":
            block = container.NodePoolNodeConfigLocalNvmeSsdBlockConfigArgs(local_ssd_count=disks.count)
            return {"local_nvme_ssd_block_config": block}
        case "none":
            return {}


def placement(stands: Placement, policy: Any) -> dict[str, Any]:
    """How close together the nodes stand; `policy` is the workload policy's name, for an NVLink domain."""
    args = container.NodePoolPlacementPolicyArgs
    if stands.topology:
        return {"placement_policy": args(type="COMPACT", policy_name=policy)}
    match stands.kind:
        case "compact":
            return {"placement_policy": args(type="COMPACT")}
        case "existing":
            return {"placement_policy": args(type="COMPACT", policy_name=stands.name)}
        case _:
            return {}


def network(connects: Fabric, interfaces: Sequence[NodeInterface]) -> dict[str, Any]:
    """The extra networks: ours, or those that GKE makes for NICs by dynamic resource allocation."""
    if isinstance(connects, NvlinkDomain) and not connects.roce.bare_metal:
        auto = container.NodePoolNetworkConfigArgs(accelerator_network_profile="auto")
        return {"network_config": auto}
    if not interfaces:
        return {}
    extra = [
        container.NodePoolNetworkConfigAdditionalNodeNetworkConfigArgs(
            network=each.network, subnetwork=each.subnetwork
        )
        for each in interfaces
    ]
    return {"network_config": container.NodePoolNetworkConfigArgs(additional_node_network_configs=extra)}


def bare_metal(connects: Fabric) -> dict[str, Any]:
    """What differs where there is no hypervisor, in `nodeConfig`: large pages, and no shielded VM."""
    match connects:
        case NvlinkDomain(roce=Roce(bare_metal=True)):
            pages = container.NodePoolNodeConfigLinuxNodeConfigHugepagesConfigArgs(hugepage_size2m=HUGE_PAGES)
            return {
                "linux_node_config": container.NodePoolNodeConfigLinuxNodeConfigArgs(hugepages_config=pages),
                "shielded_instance_config": None,
            }
        case _:
            return {}
