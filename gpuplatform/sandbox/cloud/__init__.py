"""Simulated clouds for the real Pulumi engine: aws, azure-native, gcp and kubernetes in one process.

    with serve(folder / "world.sqlite") as running:
        environ = environment.build(..., providers=running.ports, ...)

What they prove: the inputs fit the SDK's types, physical names fit, references exist, addresses do not
overlap, changes update or replace as with the real providers, deletions go in an order that the clouds
accept, and machine types are sold where they are asked for, as far as the catalogue knows.

What they do not prove: that an identity may do what it tries (IAM is stored, never evaluated), that the real
account has quota or the zone has capacity (only as injected faults), that a machine boots, joins its cluster,
finds its driver or its fabric, or that a chart's pods start. A resource type without a rule is only recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from gpuplatform.sandbox.cloud.faults import Faults
    from gpuplatform.sandbox.cloud.world import World

__all__ = ["CLOUDS", "Running", "serve"]

CLOUDS = ("aws", "azure-native", "gcp", "kubernetes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Servers that run until `stop`.

    Attributes:
        ports: Of each provider, on 127.0.0.1.
        world: What exists.
        faults: What shall go wrong.
        stop: Ends the servers and closes the world's file.
    """

    ports: Mapping[str, int]
    world: World
    faults: Faults
    stop: Callable[[], None]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def serve(db: Path, clouds: Sequence[str] = CLOUDS) -> Running:
    """Starts the servers in this process.

    Args:
        db: The file that keeps what exists; made if it is not there.
        clouds: Which providers, of `CLOUDS`.

    Raises:
        SandboxError: A port or the file cannot be had, or there is no such cloud.
    """
    from gpuplatform.sandbox.cloud.server import start

    return start(db, clouds)
