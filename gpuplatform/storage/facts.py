"""What a cloud's module answers about storage; the same shape on all three."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gpuplatform.config import Block
from gpuplatform.profile import NodeProfile
from gpuplatform.storage.filesystems import FilesystemService, NotSold
from gpuplatform.storage.model import DiskClass
from gpuplatform.storage.names import BucketRule

__all__ = ["StorageFacts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageFacts:
    """The storage services of one cloud.

    Attributes:
        bucket: What a bucket may be called.
        filesystems: Who provides which kind of file system.
        disk_classes: The default class and the fast one, from the tier's name, what is asked for, and the
            pools.
    """

    bucket: BucketRule
    filesystems: Mapping[Literal["lustre", "nfs"], FilesystemService | NotSold]
    disk_classes: Callable[[str, Block, Sequence[NodeProfile]], tuple[DiskClass, DiskClass]]
