"""What exists in the simulated clouds, in one SQLite file, apart from Pulumi's state.

A resource that Pulumi has forgotten (a leak) or made twice is visible here and nowhere else.

    resources   one row per thing that exists, with the inputs and outputs as the engine knows them
    handles     each way in which another resource can name it: id, name, ARN, self link
    links       which other resource it names, and whether it holds that one in place

All stacks share one account per cloud, as environments of one company often do: names collide here as there.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpuplatform.errors import SandboxError

__all__ = ["API", "Link", "Thing", "World"]

API = "kubernetes-api"
"""The type under which a cluster has the host name of its API server as a handle."""

_PROTECTION = "deletionProtection"
"""The name that EKS and GKE clusters have for it."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS resources (
    key INTEGER PRIMARY KEY AUTOINCREMENT, cloud TEXT NOT NULL, scope TEXT NOT NULL, token TEXT NOT NULL,
    id TEXT NOT NULL, name TEXT NOT NULL, urn TEXT NOT NULL, stack TEXT NOT NULL, inputs TEXT NOT NULL,
    outputs TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL, UNIQUE (cloud, scope, token, id));
CREATE TABLE IF NOT EXISTS handles (
    key INTEGER NOT NULL REFERENCES resources ON DELETE CASCADE, token TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (token, value, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS links (
    key INTEGER NOT NULL REFERENCES resources ON DELETE CASCADE, token TEXT NOT NULL, value TEXT NOT NULL,
    path TEXT NOT NULL, PRIMARY KEY (token, value, key, path)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS handles_key ON handles (key);
CREATE INDEX IF NOT EXISTS links_key ON links (key);
CREATE INDEX IF NOT EXISTS resources_stack ON resources (stack);
CREATE INDEX IF NOT EXISTS resources_scope ON resources (scope);
"""

_EVERYTHING = (
    "SELECT sum(length(inputs) + length(outputs)) FROM resources",
    "SELECT count(value) FROM handles",
    "SELECT count(path) FROM links",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One thing that exists.

    Attributes:
        key: Its number in the file.
        cloud: The Pulumi package: `aws`, `azure-native`, `gcp`, `kubernetes`.
        scope: Where its id is unique: an account, a subscription, a project; for Kubernetes the cluster.
        token: The resource type.
        id: The id that Pulumi knows it by.
        name: Its physical name; empty where the cloud gives none.
        urn: Who made it.
        stack: `PROJECT/STACK` of the maker.
        inputs, outputs: As the engine has them, secrets wrapped.
        created: When, in ISO 8601, UTC.
    """

    key: int
    cloud: str
    scope: str
    token: str
    id: str
    name: str
    urn: str
    stack: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    created: str


@dataclass(frozen=True, slots=True)
class Link:
    """That a thing names another: by type, handle and the input in which it does."""

    token: str
    value: str
    path: str


def stack_of(urn: str) -> str:
    """`PROJECT/STACK` of a URN `urn:pulumi:STACK::PROJECT::TYPE::NAME`."""
    parts = urn.removeprefix("urn:pulumi:").split("::")
    return f"{parts[1]}/{parts[0]}" if len(parts) > 1 else urn


class World:
    """The file. Safe for threads, and for a second process that reads or works on another stack.

    Raises:
        SandboxError: The file cannot be opened or written, or is damaged.
    """

    def __init__(self, file: Path) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._db = _opened(file)
        except (OSError, sqlite3.Error) as error:
            raise SandboxError(
                f"the simulated clouds' file cannot be used: {error}",
                where=str(file),
                way_out="`gpuplatform sandbox reset` removes it; what the sandbox holds is lost with it, "
                "nothing real is",
            ) from error

    def close(self) -> None:
        """Closes the file; the world stays in it."""
        with self._lock:
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, one writer at a time."""
        with self._lock:
            if self._depth:
                yield self._db
                return
            self._db.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            else:
                self._db.execute("COMMIT")
            finally:
                self._depth -= 1

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The database, for a question of its own."""
        with self._lock:
            yield self._db

    def add(
        self,
        *,
        cloud: str,
        scope: str,
        token: str,
        id: str,  # noqa: A002 - the cloud's own word
        name: str,
        urn: str,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        handles: Iterable[tuple[str, str]] = (),
        links: Iterable[Link] = (),
    ) -> int | None:
        """Makes a thing exist; None if its id is taken in its scope."""
        now = _now()
        with self.transaction() as db:
            if self.get(cloud, scope, token, id):
                return None
            row = (cloud, scope, token, id, name, urn, stack_of(urn), _dump(inputs), _dump(outputs), now, now)
            key = db.execute(
                "INSERT INTO resources (cloud, scope, token, id, name, urn, stack, inputs, outputs, created,"
                " updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            ).lastrowid
            assert key is not None  # noqa: S101 - an INSERT has a row id
            self._name(key, handles, links)
            return key

    def change(
        self,
        key: int,
        *,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        handles: Iterable[tuple[str, str]] | None = None,
        links: Iterable[Link] | None = None,
    ) -> None:
        """New values for an existing thing. Called past the providers, without handles and links: drift."""
        with self.transaction() as db:
            db.execute(
                "UPDATE resources SET inputs = ?, outputs = ?, updated = ? WHERE key = ?",
                (_dump(inputs), _dump(outputs), _now(), key),
            )
            if handles is not None:
                db.execute("DELETE FROM handles WHERE key = ?", (key,))
            if links is not None:
                db.execute("DELETE FROM links WHERE key = ?", (key,))
            self._name(key, handles or (), links or ())

    def remove(self, key: int) -> None:
        """Makes a thing gone."""
        with self.transaction() as db:
            db.execute("DELETE FROM resources WHERE key = ?", (key,))

    def get(self, cloud: str, scope: str, token: str, known_as: str) -> Thing | None:
        """The thing with an id, if it exists."""
        found = self._select(
            "cloud = ? AND scope = ? AND token = ? AND id = ?", cloud, scope, token, known_as
        )
        return found[0] if found else None

    def named(self, token: str, handle: str) -> Thing | None:
        """The thing that a handle names: an id, a name, an ARN, a self link, whichever it has."""
        found = self._select("key IN (SELECT key FROM handles WHERE token = ? AND value = ?)", token, handle)
        return found[0] if found else None

    def exists(self, key: str) -> bool:
        """Whether a thing with this number still exists."""
        return bool(self._select("key = ?", key))

    def made(self) -> int:
        """How many things were ever made, also those that are gone: no two makings see the same number."""
        with self._lock:
            row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'resources'").fetchone()
        return int(row["seq"]) if row else 0

    def cluster_at(self, host: str) -> Thing | None:
        """The cluster whose API server is at a host name."""
        found = self._select(
            "key IN (SELECT key FROM handles WHERE token = ? AND value = ?)", API, host.lower()
        )
        return found[0] if found else None

    def holders(self, key: int) -> list[tuple[Thing, str]]:
        """The things that name this one, each with the input in which it does."""
        with self._lock:
            rows = self._db.execute(
                "SELECT DISTINCT r.*, l.path FROM handles h JOIN links l ON l.token = h.token AND"
                " l.value = h.value JOIN resources r ON r.key = l.key WHERE h.key = ? AND l.key != h.key",
                (key,),
            ).fetchall()
        return [(_thing(row), row["path"]) for row in rows]

    def linked(self, token: str, handle: str, child_token: str) -> list[Thing]:
        """The things of one type that name the thing with this handle."""
        return self._select(
            "token = ? AND key IN (SELECT l.key FROM links l JOIN handles o ON o.token = l.token AND"
            " o.value = l.value JOIN handles h ON h.key = o.key WHERE h.token = ? AND h.value = ?)",
            child_token,
            token,
            handle,
        )

    def inside(self, scope: str) -> list[Thing]:
        """Everything in a scope."""
        return self._select("scope = ?", scope)

    def all(self, stack: str | None = None) -> list[Thing]:
        """What exists, oldest first; of one stack (`PROJECT/STACK`, or the stack's bare name) or of all."""
        if stack is None:
            return self._select("1")
        return self._select("stack = ? OR substr(stack, instr(stack, '/') + 1) = ?", stack, stack)

    def protected(self, stack: str) -> list[Thing]:
        """The things of a stack whose own deletion protection is on."""
        return [t for t in self.all(stack) if t.outputs.get(_PROTECTION, t.inputs.get(_PROTECTION))]

    def lift_protection(self, stack: str) -> list[Thing]:
        """Switches off the clouds' own deletion protection of a stack's things; returns them.

        What a person does by hand before they take down a production cluster (`aws eks update-cluster-config
        --no-deletion-protection`; `deletionProtection: false` and an `up` on GKE, where it is on by default).
        Pulumi's own protection is another one.
        """
        protected = [t for t in self.all(stack) if _PROTECTION in t.inputs or _PROTECTION in t.outputs]
        for thing in protected:
            off = {_PROTECTION: False}
            self.change(thing.key, inputs=thing.inputs | off, outputs=thing.outputs | off)
        return protected

    def forget(self, stack: str | None = None) -> int:
        """Removes what exists, of one stack or of all, without asking what holds it; returns how many."""
        things = self.all(stack)
        with self.transaction():
            for thing in things:
                self.remove(thing.key)
        return len(things)

    def _name(self, key: int, handles: Iterable[tuple[str, str]], links: Iterable[Link]) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO handles VALUES (?, ?, ?)", [(key, *handle) for handle in handles]
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO links VALUES (?, ?, ?, ?)",
            [(key, link.token, link.value, link.path) for link in links],
        )

    def _select(self, where: str, *values: Any) -> list[Thing]:
        with self._lock:
            query = f"SELECT * FROM resources WHERE {where} ORDER BY key"  # noqa: S608 - `where` is ours
            rows = self._db.execute(query, values).fetchall()
        return [_thing(row) for row in rows]


def _opened(file: Path) -> sqlite3.Connection:
    db = sqlite3.connect(file, check_same_thread=False, isolation_level=None, timeout=30)
    try:
        db.row_factory = sqlite3.Row
        # Survives a killed process, which is what the sandbox promises; not a power cut.
        db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;")
        db.executescript(_SCHEMA)
        # A file that lost its end opens without a word, and fails at whichever row is missing: all are read.
        # SQLite's own quick_check takes the keys of our tables WITHOUT ROWID for NULL in some versions.
        for part in _EVERYTHING:
            db.execute(part).fetchall()
    except sqlite3.Error:
        db.close()
        raise
    return db


def _thing(row: sqlite3.Row) -> Thing:
    fields = {name: row[name] for name in Thing.__slots__ if name not in ("inputs", "outputs")}
    return Thing(**fields, inputs=json.loads(row["inputs"]), outputs=json.loads(row["outputs"]))


def _dump(values: Mapping[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":"))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
