"""What a cloud's module answers about storage; the same shape on all three."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from gpuplatform.config import Block
from gpuplatform.storage.filesystems import FilesystemService, NotSold
from gpuplatform.storage.model import DiskClass
from gpuplatform.storage.names import BucketRule

__all__ = ["SYSTEM", "StorageFacts"]

SYSTEM = "system"
"""The pool of general-purpose machines, where pods without GPUs run; no other pool has its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageFacts:
    """The storage services of one cloud.

    Attributes:
        bucket: What a bucket may be called.
        filesystems: Who provides which kind of file system.
        disk_classes: The default class and the fast one, from the tier's name, what is asked for, and the
            machine type of each pool, the system pool's among them.
    """

    bucket: BucketRule
    filesystems: Mapping[Literal["lustre", "nfs"], FilesystemService | NotSold]
    disk_classes: Callable[[str, Block, Mapping[str, str]], tuple[DiskClass, DiskClass]]
