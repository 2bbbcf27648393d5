"""Instance store: the NVMe disks inside a machine. The image leaves them alone unless it is told."""

from __future__ import annotations

from typing import Final

from gpuplatform.catalog import Sku
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile.model import LocalDisks

__all__ = ["local_disks"]

_GIB_OF: Final = {"GB": 10**9 / 2**30, "GiB": 1.0, "": 1.0}


def local_disks(pool: NodePool, sku: Sku, where: str) -> LocalDisks:
    """The pool's local disks: striped for the pods and their images unless the pool says otherwise.

    How many disks make up the sum is the API's to tell (InstanceStorageInfo), and nothing here needs it.

    Raises:
        Refusal: The pool asks for local disks, and the machine has none.
    """
    gib = int(float(sku.local_ssd or 0) * _GIB_OF[sku.local_ssd_unit])
    if gib:
        mode = pool.local_disks or "ephemeral"
        return LocalDisks(mode=mode, gib=gib if mode != "none" else 0)
    if pool.local_disks in {"ephemeral", "raw"}:
        raise Refusal(
            f"{sku.name} has no local disks",
            where=f"{where}.local_disks",
            rule=f"local_disks: {pool.local_disks} needs a machine with NVMe inside",
            way_out="leave local_disks out and raise disk_gib, or choose a machine type that has some",
        )
    return LocalDisks(mode="none")
