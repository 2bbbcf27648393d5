"""Faults on request: what a cloud does on a bad day, at a moment of the tester's choice.

    stockout   sku=NAME [region=NAME]     no capacity for machines that a create starts at once
    quota      sku=NAME [region=NAME]     the quota of that machine type is used up
    throttling [type=GLOB] [times=N]      N calls are turned away; the provider retries, as real ones do
    timeout    [type=GLOB] [seconds=S]    the create takes effect, but its answer is an error
    slow       [type=GLOB] [seconds=S]    the create takes S seconds longer
    crash      [type=GLOB] after=N        the process is killed when the N-th create has taken effect

`times=N` lets any of them happen N times (default: for ever; throttling: 3). They are kept in the world's
file; GPUPLATFORM_SANDBOX_FAULTS adds more for one command:
`stockout:sku=p5.48xlarge,region=us-east-1;slow:seconds=2`.
"""

from __future__ import annotations

import fnmatch
import os
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any

from gpuplatform.errors import SandboxError
from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.rule import Call, Cloud, CloudError
from gpuplatform.sandbox.cloud.world import World

__all__ = ["ENVIRONMENT", "Faults"]

ENVIRONMENT = "GPUPLATFORM_SANDBOX_FAULTS"

_KINDS: Mapping[str, frozenset[str]] = {
    "stockout": frozenset({"sku", "region", "times"}),
    "quota": frozenset({"sku", "region", "times"}),
    "throttling": frozenset({"type", "times"}),
    "timeout": frozenset({"type", "seconds", "times"}),
    "slow": frozenset({"type", "seconds", "times"}),
    "crash": frozenset({"type", "after", "times"}),
}
_RETRIES = 5  # botocore's legacy mode and the Go SDKs try about as often before they give up

_SCHEMA = """
CREATE TABLE IF NOT EXISTS faults (key INTEGER PRIMARY KEY, kind TEXT NOT NULL, token TEXT NOT NULL,
    sku TEXT NOT NULL, region TEXT NOT NULL, seconds REAL NOT NULL, after INTEGER NOT NULL, times INTEGER,
    temporary INTEGER NOT NULL DEFAULT 0);
"""


class Faults:
    """The faults of one world."""

    def __init__(
        self,
        world: World,
        *,
        kill: Callable[[], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._world = world
        self._kill = kill or _kill_process
        self._sleep = sleep
        with world.transaction() as db:
            db.execute(_SCHEMA)
            # Those of an earlier command's environment went with that command.
            db.execute("DELETE FROM faults WHERE temporary = 1")
        for text in filter(None, os.environ.get(ENVIRONMENT, "").split(";")):
            kind, _, rest = text.strip().partition(":")
            pairs = dict(pair.partition("=")[::2] for pair in rest.split(",") if pair)
            self._insert(kind.strip(), {k.strip(): v.strip() for k, v in pairs.items()}, temporary=True)

    def add(self, kind: str, **options: str | float) -> None:
        """Adds one; see the module's text for kinds and options.

        Raises:
            SandboxError: There is no such kind or option.
        """
        self._insert(kind, options, temporary=False)

    def clear(self) -> None:
        """Removes them all."""
        with self._world.transaction() as db:
            db.execute("DELETE FROM faults")

    def _insert(self, kind: str, options: Mapping[str, Any], *, temporary: bool) -> None:
        allowed = _KINDS.get(kind)
        wrong = sorted(set(options) - allowed) if allowed is not None else [kind]
        if wrong or allowed is None:
            raise SandboxError(
                f"no such {'option' if allowed else 'kind'} of fault: {', '.join(wrong)}",
                where=ENVIRONMENT if temporary else "faults.add",
                rule="; ".join(f"{name}: {', '.join(sorted(keys))}" for name, keys in _KINDS.items()),
            )
        try:
            times = options.get("times", 3 if kind == "throttling" else None)
            row = (
                kind,
                options.get("type", "*"),
                options.get("sku", "*"),
                options.get("region", "*"),
                float(options.get("seconds", 1)),
                int(options.get("after", 1)),
                None if times is None else int(times),
                temporary,
            )
        except ValueError as error:
            raise SandboxError(
                f"fault {kind}: {error}", rule="seconds, after and times are numbers"
            ) from error
        with self._world.transaction() as db:
            db.execute(
                "INSERT INTO faults (kind, token, sku, region, seconds, after, times, temporary)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )

    def before_create(self, cloud: Cloud, call: Call) -> None:
        """Slowness, throttling, missing capacity; outside of any transaction, so others go on."""
        if not self._armed():
            return
        for _ in range(_RETRIES):
            if not self._happens("throttling", call):
                break
            self._sleep(0.05)
        else:
            raise CloudError(cloud.throttled)
        if found := self._happens("slow", call):
            self._sleep(found["seconds"])
        rule = cloud.rule(call.token)
        skus = [sku for path in rule.machines for sku in wire.at(call.inputs, path)]
        for sku in skus:
            where = {"sku": sku, "where": call.region}
            if self._happens("quota", call, sku):
                raise CloudError(cloud.quota.format(**where))
            if (not rule.nodes or call.get(rule.nodes, 0)) and self._happens("stockout", call, sku):
                raise CloudError(cloud.stockout.format(**where))

    def after_create(self, cloud: Cloud, call: Call) -> None:
        """A crash or time-out once the thing exists: the engine never learns its id."""
        if not self._armed():
            return
        with self._world.transaction() as db:
            db.execute(
                "UPDATE faults SET after = after - 1 WHERE kind = 'crash' AND ? GLOB token", (call.token,)
            )
        if self._happens("crash", call):
            self._kill()
        if found := self._happens("timeout", call):
            self._sleep(found["seconds"])
            raise CloudError(cloud.timeout)

    def _armed(self) -> bool:
        with self._world.reading() as db:
            return db.execute("SELECT 1 FROM faults LIMIT 1").fetchone() is not None

    def _happens(self, kind: str, call: Call, sku: str = "*") -> Mapping[str, Any] | None:
        with self._world.transaction() as db:
            for row in db.execute("SELECT * FROM faults WHERE kind = ?", (kind,)).fetchall():
                hits = (
                    fnmatch.fnmatchcase(call.token, row["token"])
                    and row["sku"] in ("*", sku)
                    and row["region"] in ("*", call.region)
                    and (row["times"] is None or row["times"] > 0)
                    and (kind != "crash" or row["after"] == 0)
                )
                if hits:
                    db.execute("UPDATE faults SET times = times - 1 WHERE key = ?", (row["key"],))
                    return dict(row)
        return None


def _kill_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
