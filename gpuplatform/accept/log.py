"""Reads what nccl-tests and NCCL print, as it arrives: prefixed, interleaved, cut off.

Formats: NVIDIA/nccl-tests src/common.cu and src/util.cu (versions 2.10 to 2.20), NVIDIA/nccl src/debug.cc.
A row is printed in two pieces, and other ranks' messages may come between them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from gpuplatform.accept.script import SAYS

__all__ = ["Log", "Measured", "Row", "Run", "parse"]


_SMALLEST: Final = 1 << 16
"""Bytes; smaller messages measure latency, and no fabric's best bandwidth is theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One half of a row.

    Attributes:
        time_us: Microseconds.
        algbw: GB/s.
        busbw: GB/s.
        wrong: Wrong elements; None where results were not checked, or by a version that counts otherwise.
    """

    time_us: float
    algbw: float
    busbw: float
    wrong: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One message size. `size` is in bytes; `in_place` is None where only one half was run."""

    size: int
    out_of_place: Measured
    in_place: Measured | None

    @property
    def halves(self) -> tuple[Measured, ...]:
        """What was measured, one or two."""
        return (self.out_of_place, self.in_place) if self.in_place else (self.out_of_place,)


@dataclass(slots=True, kw_only=True)
class Run:
    """One test.

    Attributes:
        collective: Such as `all_reduce`; empty where the log does not say.
        min_bytes: Smallest size asked for; None where the head of the log is missing.
        max_bytes: Largest size asked for, likewise.
        step: What one size is to the next: the factor, or the bytes between them (`by_bytes`).
        ranks: Ranks that took part, by number.
        hosts: Names of the nodes that they ran on.
        processes: Node and process of each.
        models: What their GPUs are called.
        average: "Avg bus bandwidth", GB/s; None where the log ends before it.
        out_of_bounds: "Out of bounds values"; None likewise.
    """

    collective: str = ""
    min_bytes: int | None = None
    max_bytes: int | None = None
    step: int | None = None
    by_bytes: bool = False
    ranks: set[int] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    processes: set[tuple[str, str]] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    rows: list[Row] = field(default_factory=list)
    average: float | None = None
    out_of_bounds: int | None = None

    @property
    def peak(self) -> float | None:
        """The best bus bandwidth of any size, GB/s."""
        return max((half.busbw for row in self.rows for half in row.halves), default=None)

    @property
    def wrong(self) -> int:
        """Wrong elements over all sizes, as far as they were counted."""
        counted = sum(half.wrong or 0 for row in self.rows for half in row.halves)
        return max(counted, self.out_of_bounds or 0)

    @property
    def checked(self) -> bool:
        """Whether every size's results were compared with the right ones."""
        return bool(self.rows) and all(half.wrong is not None for row in self.rows for half in row.halves)

    @property
    def unread(self) -> tuple[int, ...] | None:
        """Sizes that were asked for and have no row, in bytes; None where the log does not say which were.

        A test rounds a size down to what its ranks can share: a row counts for the next size asked for.
        """
        if self.min_bytes is None or self.max_bytes is None or self.step is None:
            return None
        read = {row.size for row in self.rows}
        missing, size, below = [], self.min_bytes, -1
        while size <= self.max_bytes:
            # Sizes smaller than an element for each rank are rounded down to nothing, and say nothing.
            if size >= _SMALLEST and not any(below < each <= size for each in read):
                missing.append(size)
            below, following = size, size + self.step if self.by_bytes else size * self.step
            if following <= size:
                break
            size = following
        return tuple(missing)

    @property
    def complete(self) -> bool:
        """Whether the summary was reached."""
        return self.average is not None and self.out_of_bounds is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """All of a log.

    Attributes:
        runs: Tests, in order.
        transports: What NCCL said it uses between nodes, by its own names (`Socket`, `IB`, `gIB` ...).
        speakers: Node and process of each rank that named one.
        warnings: NCCL's own warnings, each once.
        failures: Lines by which a test or mpirun says that it failed, each once.
        said: The job's own lines.
    """

    runs: tuple[Run, ...] = ()
    transports: frozenset[str] = frozenset()
    speakers: frozenset[tuple[str, str]] = frozenset()
    warnings: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    def run_of(self, collective: str) -> Run | None:
        """The last run of a collective; one whose name the log does not tell is taken for an all-reduce."""
        found = [run for run in self.runs if (run.collective or "all_reduce") == collective]
        return found[-1] if found else None

    def silent(self, run: Run) -> frozenset[tuple[str, str]]:
        """The processes of a test that named no transport.

        In front of a speaker's name may stand the end of another rank's line.
        """
        return frozenset(
            (host, process)
            for host, process in run.processes
            if not any(process == pid and name.endswith(host) for name, pid in self.speakers)
        )


# Escape sequences; kubectl logs --prefix, --timestamps; mpirun --tag-output; srun --label.
_PREFIXES: Final = re.compile(
    r"^(?:\[pod/\S+\] ?|\d{4}-\d\d-\d\dT[\d:.]+Z ?|\[\d+,\d+\]<std(?:out|err)>: ?|"
    r"\d{1,4}: (?=.*NCCL| *\d| *#))*"
)
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
# host:process:thread [device] NCCL INFO ..., from 2.27 on with a time in front.
_NCCL: Final = re.compile(
    r"(?P<time>\[\d{4}-[\d :.-]+\] )?(?P<host>[^\s:]+):(?P<process>\d+):\d+ \[ ?\d+ ?\] (?:.*?:\d+ )?"
    r"NCCL (?P<level>INFO|WARN) (?P<text>.*)$"
)
_NUMBER: Final = r"(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
# size, count, type, redop and, since 2.11, root.
_PREAMBLES: Final = tuple(
    re.compile(rf"^\d+\s+\d+\s+[a-z]\w*\s+[a-z]\w*{root}\s+") for root in (r"\s+-?\d+", "")
)
_Half = tuple[str, ...]
_HALF: Final = re.compile(rf"^({_NUMBER})\s+({_NUMBER})\s+({_NUMBER})\s+({_NUMBER}|N/A)(?:\s+|$)")
_FAILURE: Final = re.compile(
    r"Test (?:NCCL|CUDA) failure|Test failure|NCCL failure|unhandled (?:cuda|system) error|"
    r"Primary job +terminated|mpirun (?:noticed|detected|was unable)|ORTE (?:was unable|has lost)|"
    r"Invalid number of GPUs|CUDA error"
)
_RANK: Final = re.compile(
    r"Rank +(?P<rank>\d+) .*?Pid +(?P<process>\d+) on +(?P<host>\S+) device"
    r"(?: +\d+ \[[^]]*\] (?P<model>\S.*?)\s*$)?"
)
_PROVIDER: Final = re.compile(r"NET/OFI Selected [Pp]rovider is ([\w.;-]+)")
_NETWORK: Final = re.compile(r"^Using network (.+?)\s*$")
_CHANNEL: Final = re.compile(r"\bvia NET/([^/\s](?:[^/]*[^/\s])?)(?:/|\s*$)")


def parse(text: str) -> Log:
    """What a log says. Nothing in it is an error: what cannot be read is left out.

    A last line without its end is left out too: half a number is another number.
    """
    reader = _Reader()
    whole, _, _cut = text.rpartition("\n")
    for line in whole.splitlines():
        reader.take(_PREFIXES.sub("", _ESCAPES.sub("", line)))
    return reader.log()


class _Reader:
    """Keeps what later lines refer to."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._open = False
        self._announced = ""
        self._pending = ""
        self._nodes: set[str] = set()
        self._counts_wrong = True
        self._transports: set[str] = set()
        self._speakers: set[tuple[str, str]] = set()
        self._providers: set[str] = set()
        self._warnings: dict[str, None] = {}
        self._failures: dict[str, None] = {}
        self._said: list[str] = []

    def log(self) -> Log:
        names = self._transports
        if libfabric := {name for name in names if "Libfabric" in name}:
            # The plugin serves TCP as well; then its provider says so, and the name of the network does not.
            other = {f"Libfabric over {name}" for name in self._providers if not name.startswith("efa")}
            names = (names - libfabric) | other if other else names
        return Log(
            runs=tuple(self._runs),
            transports=frozenset(names),
            speakers=frozenset(self._speakers),
            warnings=tuple(self._warnings),
            failures=tuple(self._failures),
            said=tuple(self._said),
        )

    def take(self, line: str) -> None:
        message = _NCCL.search(line)
        if message:
            self._nccl(message)
            line = self._before(line, message)
        if _FAILURE.search(line):
            self._failures.setdefault(line.strip())
        if line.startswith(SAYS):
            self._own(line.removeprefix(SAYS).strip())
        elif line.strip()[:1].isdigit() or (self._pending and not line.startswith("#")):
            self._numbers(line, interrupted=message is not None)
        else:
            self._pending = ""
            self._comment(line, interrupted=message is not None)

    def _before(self, line: str, message: re.Match[str]) -> str:
        """What stands in front of a message, which a rank prints wherever another one's line just ends.

        Nothing parts the two: `sum      -1node-1:21:26 [0] NCCL INFO`. The names of nodes that the log has
        told before say where the message begins; without them what is in front is lost.
        """
        host, before = message["host"], line[: message.start()]
        if message["time"]:
            return before
        if not before.strip() and host[:1].isalpha():
            self._nodes.add(host)
        known = max((node for node in self._nodes if host.endswith(node)), key=len, default="")
        return before + host.removesuffix(known) if known else ""

    def _own(self, said: str) -> None:
        self._said.append(said)
        if said.startswith("run "):
            self._announced = said.removeprefix("run ")
            self._open = False

    def _nccl(self, said: re.Match[str]) -> None:
        message = said["text"]
        if said["level"] == "WARN":
            self._warnings.setdefault(message.strip())
        for named in (_NETWORK.search(message), _CHANNEL.search(message)):
            if named:
                self._transports.add(named[1])
                self._speakers.add((said["host"], said["process"]))
        if provider := _PROVIDER.search(message):
            self._providers.add(provider[1].split(",")[0])

    def _comment(self, line: str, *, interrupted: bool) -> None:
        if started := re.search(r"Collective test starting: (\w+?)_perf", line):
            self._begin(started[1])
        elif sizes := re.search(r"nThread \d+ nGpus? \d+ minBytes (\d+) maxBytes (\d+)", line):
            run = self._current() if self._open and self._current().min_bytes is None else self._begin("")
            run.min_bytes, run.max_bytes = int(sizes[1]), int(sizes[2])
            if step := re.search(r" step: (\d+)\((factor|bytes)\)", line):
                run.step, run.by_bytes = int(step[1]), step[2] == "bytes"
        elif rank := _RANK.search(line):
            self._rank(rank, interrupted=interrupted)
        elif re.search(r"\bsize\s+count\s+type\s+redop", line):
            self._counts_wrong = "#wrong" in line
            self._current()
        elif bounds := re.search(r"Out of bounds values\s*: (\d+)", line):
            self._current().out_of_bounds = int(bounds[1])
        elif average := re.search(rf"Avg bus bandwidth\s*: ({_NUMBER})(?:\s|$)", line):
            self._current().average = float(average[1])
            self._open = False

    def _rank(self, rank: re.Match[str], *, interrupted: bool) -> None:
        run = self._current()
        run.ranks.add(int(rank["rank"]))
        run.hosts.add(rank["host"])
        run.processes.add((rank["host"], rank["process"]))
        self._nodes.add(rank["host"])
        if rank["model"] and not interrupted:
            run.models.add(rank["model"])

    def _begin(self, collective: str) -> Run:
        self._runs.append(Run(collective=collective or self._announced))
        self._open, self._pending = True, ""
        return self._runs[-1]

    def _current(self) -> Run:
        return self._runs[-1] if self._open else self._begin("")

    def _numbers(self, line: str, *, interrupted: bool) -> None:
        """A row, or a piece of one: another rank's message may stand where the rest should be."""
        joined = self._pending + line
        self._pending = joined if interrupted else ""
        for whole in (joined, line):
            halves = _halves(whole.strip())
            if len(halves) == _BOTH or (halves and not interrupted):
                self._row(whole, halves)
                self._pending = ""
                return

    def _row(self, whole: str, halves: tuple[_Half, ...]) -> None:
        first, second = (*map(self._measured, halves), None)[:_BOTH]
        assert first is not None  # noqa: S101 - there is one half at least
        self._current().rows.append(
            Row(size=int(whole.split(maxsplit=1)[0]), out_of_place=first, in_place=second)
        )

    def _measured(self, texts: _Half) -> Measured:
        time, algbw, busbw, wrong = texts
        counted = self._counts_wrong and wrong != "N/A"
        return Measured(
            time_us=float(time),
            algbw=float(algbw),
            busbw=float(busbw),
            wrong=int(float(wrong)) if counted else None,
        )


_BOTH: Final = 2


def _halves(line: str) -> tuple[_Half, ...]:
    """What stands behind the size: one half or two, and then at most a time; nothing where it is no row."""
    for preamble in _PREAMBLES:
        if (head := preamble.match(line)) is None:
            continue
        rest = line[head.end() :]
        found: list[_Half] = []
        while len(found) < _BOTH and (half := _HALF.match(rest)):
            found.append(half.groups())
            rest = rest[half.end() :]
        if found and (not rest or re.match(r"\d{4}-\d\d-\d\d ", rest)):
            return tuple(found)
    return ()
