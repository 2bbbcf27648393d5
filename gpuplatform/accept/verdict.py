"""Pass, fail or not measured: one pool's log against its profile; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpuplatform.accept.log import Log, Run
from gpuplatform.profile import (
    Bandwidth,
    Efa,
    Fabric,
    InfiniBand,
    NodeProfile,
    NoFabric,
    NvlinkDomain,
    Roce,
    Tcpx,
    Tcpxo,
)

__all__ = ["MIN_NODES", "Outcome", "Verdict", "judge", "not_measurable"]

MIN_NODES: Final = 2
"""Bandwidth between nodes needs two of them."""

_TCP: Final = ("Socket", "FastSocket", "Libfabric over ")


class Outcome(StrEnum):
    """The three verdicts; what is not known is never a pass."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One pool's.

    Attributes:
        reason: Why, as a sentence with the numbers in it.
        measured: GB/s by the floor's own metric; None where it was not reached.
        floor: GB/s; None where none is published.
        metric: `average` or `peak`; empty where there is no floor.
        transports: What NCCL said it uses between nodes.
    """

    pool: str
    sku: str
    outcome: Outcome
    reason: str
    measured: float | None = None
    floor: float | None = None
    metric: str = ""
    transports: tuple[str, ...] = ()


def not_measurable(profile: NodeProfile, nodes_max: int) -> Verdict | None:
    """The verdict on a pool that no job needs to run on; None where one does.

    Args:
        profile: The pool's nodes.
        nodes_max: How many it may have.
    """
    if nodes_max < MIN_NODES:
        return _verdict(
            profile, Log(), Outcome.NOT_MEASURED, "the pool has one node at most, and a network has two ends"
        )
    if profile.sharing is not None:
        return _verdict(
            profile,
            Log(),
            Outcome.NOT_MEASURED,
            f"its GPUs are shared ({profile.sharing.kind}), and NCCL needs whole ones",
        )
    if profile.capacity.kind == "queued":
        return _verdict(
            profile,
            Log(),
            Outcome.NOT_MEASURED,
            "its capacity is queued: nodes come by a provisioning request only, and a plain job gets none; "
            "run nccl-tests through the pool's queue and judge their log (--log)",
        )
    if isinstance(profile.fabric, NoFabric) and profile.bandwidth is None:
        reason = f"the nodes talk over plain TCP, for which there is no floor: {profile.fabric.reason}"
        return _verdict(profile, Log(), Outcome.NOT_MEASURED, reason)
    return None


def judge(profile: NodeProfile, log: Log) -> Verdict:
    """The verdict on what a log says."""
    outcome, reason, measured = _judged(profile, log)
    return _verdict(profile, log, outcome, reason, measured)


Judged = tuple[Outcome, str, float | None]


def _judged(profile: NodeProfile, log: Log) -> Judged:
    if other := _other_machine(profile, log):
        return Outcome.NOT_MEASURED, other, None
    if wrong := sum(run.wrong for run in log.runs):
        return (
            Outcome.FAIL,
            f"{wrong} elements came out wrong: what the nodes compute cannot be trusted",
            None,
        )
    if problem := _transport_problem(profile.fabric, log.transports):
        return Outcome.FAIL, problem, None
    run = log.run_of(profile.bandwidth.collective if profile.bandwidth else "all_reduce")
    if gap := _gap(profile, log, run):
        return Outcome.NOT_MEASURED, gap, None
    assert run is not None  # noqa: S101 - _gap has a sentence for a missing run
    if profile.bandwidth is None:
        told = f"average {run.average:g} GB/s, peak {run.peak:g} GB/s"
        return Outcome.NOT_MEASURED, f"no floor is published for two nodes of {profile.sku}; {told}", None
    return _against(profile.bandwidth, run)


def _other_machine(profile: NodeProfile, log: Log) -> str:
    """Which GPUs the log is of, where they are not the pool's: it says nothing about the pool then."""
    models = sorted({model for run in log.runs for model in run.models})
    if other := [model for model in models if not _is_model(profile.gpu_model, model)]:
        return f"the log is of {', '.join(other)}, and {profile.sku} has {profile.gpu_model}"
    return ""


def _is_model(model: str, device: str) -> bool:
    """Whether CUDA's name of a device, `NVIDIA H100 80GB HBM3`, is of the catalogue's model, `H100`.

    Whole words: GH200 is no H200, and L40S no L4.
    """
    words = re.split(r"[\s_-]+", device.upper())
    wanted = model.upper()
    return wanted in words or (len(wanted) > _LONG and wanted in "".join(words))


_LONG: Final = 6
"""Characters; a longer name, RTXPRO6000 or H100NVL, is one that CUDA writes in several words."""


def _transport_problem(fabric: Fabric, transports: frozenset[str]) -> str:
    expected = _expected(fabric)
    if not expected:
        return ""
    if tcp := sorted(name for name in transports if name.startswith(_TCP)):
        return (
            f"NCCL picked the socket transport ({', '.join(tcp)}) on a pool whose fabric is "
            f"{type(fabric).__name__}: training would run over TCP"
        )
    if other := sorted(name for name in transports if not name.startswith(expected)):
        return f"NCCL used {', '.join(other)} where the pool's fabric is {type(fabric).__name__}"
    return ""


def _expected(fabric: Fabric) -> tuple[str, ...]:
    """How the names of the fabric's transports begin; none where TCP is what was asked for.

    Sources: aws-ofi-nccl (`AWS Libfabric`, from 1.16 on `Libfabric`); NCCL's own `IB` and the `IBext_v8` of
    NVIDIA's plugin; Google's plugins (docs.cloud.google.com/ai-hypercomputer/docs/nccl) `gIB`, `FasTrak` and
    `GPUDirectTCPX_v7`.
    """
    match fabric:
        case Efa():
            return ("AWS Libfabric", "Libfabric")
        case InfiniBand():
            return ("IB",)
        case Tcpx():
            return ("GPUDirectTCPX",)
        case Tcpxo():
            return ("FasTrak",)
        case Roce() | NvlinkDomain():
            return ("gIB",)
        case NoFabric():
            return ()


def _gap(profile: NodeProfile, log: Log, run: Run | None) -> str:
    """What is missing for a judgement; empty where nothing is."""
    if (run is None or not run.rows) and (others := _other_collectives(profile, log)):
        return others
    if run is None or not run.rows:
        return f"the log has no results{_why(log)}"
    if len(run.hosts) < MIN_NODES:
        took_part = (
            "does not say which nodes took part" if not run.hosts else f"is of one node, {min(run.hosts)}"
        )
        return f"the log {took_part}; bandwidth between nodes is measured with two"
    if len(run.ranks) < len(run.hosts) * profile.gpus:
        want = len(run.hosts) * profile.gpus
        return f"{len(run.ranks)} GPUs took part, and {len(run.hosts)} nodes of {profile.sku} have {want}"
    if not run.complete:
        peak = f"; until then the peak was {run.peak:g} GB/s" if run.peak is not None else ""
        return f"the log ends before the test does{peak}{_why(log)}"
    if not run.checked:
        return "the test did not check its results (-c 0), and wrong ones come fast"
    if _expected(profile.fabric) and not log.transports:
        return "the log does not say which transport NCCL picked; set NCCL_DEBUG=INFO"
    if _expected(profile.fabric) and (silent := log.silent(run)):
        told = f"{len(silent)} of {len(run.processes)} ranks do not say which transport they use"
        return f"{told}, such as process {' of '.join(reversed(min(silent)))}; one on sockets would be enough"
    if log.failures:
        return f"the results are there, but the log says that something failed: {log.failures[-1]}"
    return ""


def _other_collectives(profile: NodeProfile, log: Log) -> str:
    """What the log has instead of the collective that is judged; empty where it has nothing either."""
    wanted = profile.bandwidth.collective if profile.bandwidth else "all_reduce"
    found = sorted({run.collective or "all_reduce" for run in log.runs if run.rows} - {wanted})
    if not found:
        return ""
    judged = "the floor is of" if profile.bandwidth else "what is looked for is"
    return f"the log has {', '.join(found)}, {judged} {wanted}{_why(log)}"


def _why(log: Log) -> str:
    """The likeliest reason that the log itself gives: the job's own, a failure, NCCL's last warning."""
    own = [said for said in log.said if not said.startswith(("run ", "node ")) or "did not answer" in said]
    for found in (own, log.failures, log.warnings[-1:]):
        told = [text for text in found if text != "done"]
        if told:
            return f": {told[-1]}"
    return ""


def _against(floor: Bandwidth, run: Run) -> Judged:
    if floor.metric == "average" and (run.min_bytes, run.max_bytes) != (floor.min_bytes, floor.max_bytes):
        reason = (
            f"the floor is an average of {_size(floor.min_bytes)} to {_size(floor.max_bytes)}, "
            f"and this one is of {_size(run.min_bytes)} to {_size(run.max_bytes)}"
        )
        return Outcome.NOT_MEASURED, reason, None
    measured = run.average if floor.metric == "average" else run.peak
    assert measured is not None  # noqa: S101 - a complete run with rows has both
    if floor.metric == "peak" and measured < floor.floor and (unread := _unread(run)):
        reason = (
            f"{unread}; the best of the others is {measured:g} GB/s, floor {floor.floor:g} ({floor.source})"
        )
        return Outcome.NOT_MEASURED, reason, None
    told = (
        f"{floor.metric} bus bandwidth of {floor.collective} over {len(run.hosts)} nodes is "
        f"{measured:g} GB/s, floor {floor.floor:g} ({floor.source})"
    )
    return (Outcome.PASS if measured >= floor.floor else Outcome.FAIL), told, measured


def _unread(run: Run) -> str:
    """Which sizes the peak may be of, and cannot be read; empty where there is none."""
    if (missing := run.unread) is None:
        return "the log does not say which sizes were run, so the best may be missing"
    if not missing:
        return ""
    sizes = ", ".join(_size(size) for size in missing[-3:])
    rows = "the row" if len(missing) == 1 else f"{len(missing)} rows, the last ones those"
    return f"{rows} of {sizes} cannot be read"


def _size(count: int | None) -> str:
    if count is None:
        return "?"
    for unit, shift in (("G", 30), ("M", 20), ("K", 10)):
        if count >= 1 << shift:
            return f"{count / (1 << shift):g}{unit}"
    return str(count)


def _verdict(
    profile: NodeProfile, log: Log, outcome: Outcome, reason: str, measured: float | None = None
) -> Verdict:
    floor = profile.bandwidth
    return Verdict(
        pool=profile.pool,
        sku=profile.sku,
        outcome=outcome,
        reason=reason,
        measured=measured,
        floor=floor.floor if floor else None,
        metric=floor.metric if floor else "",
        transports=tuple(sorted(log.transports)),
    )
