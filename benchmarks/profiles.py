"""Node profiles of every machine type, against reading those machine types from the catalogue's files."""

from __future__ import annotations

from collections.abc import Iterator

from measure import Ratio, inside, paired

from gpuplatform.catalog import CLOUDS, load
from gpuplatform.catalog.loader import CloudData
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import node_profile

ROUNDS = 20


def profiles_against_catalogue() -> Iterator[Ratio]:
    """A decision should cost about what reading its row costs; the row says how many a second."""
    ratio = paired(
        "node profiles of all machine types / reading their rows",
        inside(lambda: [_decide() for _ in range(ROUNDS)]),
        inside(lambda: [_read() for _ in range(ROUNDS)]),
        goal=1.5,
    )
    made = _decide()
    a_second = made * ROUNDS / (ratio.subject / 1000)
    yield Ratio(
        what=f"{ratio.what} ({made} profiles, {a_second:,.0f} a second)",
        subject=ratio.subject,
        yardstick=ratio.yardstick,
        ratio=ratio.ratio,
        goal=ratio.goal,
    )


def _decide() -> int:
    made = 0
    for sku in load().skus():
        pool = NodePool.model_validate(
            {"name": "pool", "sku": sku.name, "purpose": "inference", "nodes": {"min": 0, "max": 2}}
        )
        try:
            node_profile(pool, sku)
        except Refusal:
            continue
        made += 1
    return made


def _read() -> int:
    return sum(len(CloudData(cloud).skus) for cloud in CLOUDS)
