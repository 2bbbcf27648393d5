"""Multi-Instance GPU: which GPUs can be cut, into what, and how many of it.

Sources: NVIDIA MIG User Guide, "Supported MIG Profiles"
(https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html), for names and counts of
A100, H100, H200, B200 and the RTX PRO cards; NVIDIA/mig-parted deployments/systemd/config-default.yaml
(2026-08-21), by PCI device, for B300 (0x3182), GB200 (0x2941) and GB300 (0x31c2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpuplatform.catalog import Sku

__all__ = ["mig_profiles"]


def _sevenths(smallest: int, quarter: int, half: int, whole: int) -> dict[str, int]:
    """The profiles of a data-centre GPU: seven compute slices over eight of memory, sizes in GB.

    `1g` with media engines (`+me`) exists once a GPU, and alone: the other slices then stay empty.
    """
    return {
        f"1g.{smallest}gb": 7,
        f"1g.{smallest}gb+me": 1,
        f"1g.{quarter}gb": 4,
        f"2g.{quarter}gb": 3,
        f"3g.{half}gb": 2,
        f"4g.{half}gb": 1,
        f"7g.{whole}gb": 1,
    }


# By the catalogue's model and memory in GB: the sizes are in the names, and 1g.10gb is four instances of an
# A100 of 40 GB but seven of one of 80 GB.
_PROFILES: Final[Mapping[tuple[str, int], Mapping[str, int]]] = {
    ("A100", 40): _sevenths(5, 10, 20, 40),
    ("A100", 80): _sevenths(10, 20, 40, 80),
    ("H100", 80): _sevenths(10, 20, 40, 80),
    ("H100NVL", 94): _sevenths(12, 24, 47, 94),
    ("H200", 141): _sevenths(18, 35, 71, 141),
    ("B200", 180): _sevenths(23, 45, 90, 180),
    ("B300", 268): _sevenths(34, 67, 135, 269),
    # The clouds give a GB200 185, 186 or 192 GB and a GB300 279 or 288 GB; it is one card each.
    ("GB200", 0): _sevenths(23, 47, 93, 186),
    ("GB300", 0): _sevenths(35, 70, 139, 278),
    ("RTXPRO6000", 96): {"1g.24gb": 4, "1g.24gb+me": 1, "2g.48gb": 2, "4g.96gb": 1},
    ("RTXPRO4500", 32): {"1g.16gb": 2, "2g.32gb": 1},
}


def mig_profiles(sku: Sku) -> Mapping[str, int]:
    """What one GPU of `sku` can be cut into, as profile -> instances of it; empty where it cannot be cut.

    A machine with a share of a GPU has none: the share is a virtual GPU that the cloud cut already.
    """
    if sku.gpu_count < 1 or sku.gpu_mem_gb_each is None:
        return {}
    memory = round(sku.gpu_mem_gb_each)
    return _PROFILES.get((sku.gpu_model, memory)) or _PROFILES.get((sku.gpu_model, 0)) or {}
