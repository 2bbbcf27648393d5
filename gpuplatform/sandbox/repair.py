"""What Pulumi's state must say after a killed update, by the simulated clouds' own record.

Pure: a deployment and what exists go in, the deployment as it ought to be comes out. Before each step the
engine notes in the state what it is about to do (`pending_operations`; OperationType in its
sdk/go/common/apitype/core.go). A killed engine leaves the note, and only the cloud knows what came of it:

- creating, and it exists: it joins the state, with the dependencies and the protection of the note. If its
  predecessor is still there (a replacement), it is marked for deletion instead: the next `up` deletes it
  and replaces the predecessor anew.
- creating, and it does not exist: the note goes.
- updating: what exists is what counts; the next `up` sees the difference.
- deleting, and it is gone: it leaves the state, or waits for its replacement where others stand on it.

Some things exist and no note tells of them: a `destroy` forgets what is in a cluster before the cluster takes
it along, and a restored state is older than what it describes. Their records come from older states.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpuplatform.sandbox.cloud.world import Thing
from gpuplatform.sandbox.sdk_types import SECRET, SIGNATURE

__all__ = ["Repair", "repair"]

PROVIDERS = "pulumi:providers:"


@dataclass(frozen=True, kw_only=True, slots=True)
class Repair:
    """A deployment in line with what exists."""

    deployment: dict[str, Any]
    adopted: tuple[str, ...] = ()
    """URNs of what exists and was not known."""
    superfluous: tuple[str, ...] = ()
    """URNs of replacements whose predecessor is still there: the next `up` deletes these."""
    updated: tuple[str, ...] = ()
    """URNs of what a killed update was changing."""
    gone: tuple[str, ...] = ()
    """URNs of what no longer exists."""
    dropped: int = 0
    """How many notes of begun work were settled."""
    unknown: tuple[Thing, ...] = ()
    """What exists, is not in the state, and cannot be placed there."""

    @property
    def needed(self) -> bool:
        """Whether the state has to be written."""
        return bool(self.dropped or self.adopted or self.superfluous or self.gone)


def repair(
    deployment: Mapping[str, Any], things: Iterable[Thing], older: Iterable[Mapping[str, Any]] = ()
) -> Repair:
    """Settles what a killed engine left open.

    Args:
        deployment: `latest` of a checkpoint (DeploymentV3); is not changed.
        things: What exists of this stack, oldest first.
        older: Earlier deployments of the stack, newest first; read only where a record is missing.
    """
    state = _State(deployment, things)
    notes = state.result.pop("pending_operations", None) or []
    for note in notes:
        state.settle(str(note["type"]), note["resource"])
    state.compare(older)
    return Repair(
        deployment=state.result,
        adopted=tuple(state.adopted),
        superfluous=tuple(state.superfluous),
        updated=tuple(state.updated),
        gone=tuple(state.gone),
        dropped=len(notes),
        unknown=tuple(state.missing()),
    )


class _State:
    def __init__(self, deployment: Mapping[str, Any], things: Iterable[Thing]) -> None:
        self.result: dict[str, Any] = copy.deepcopy(dict(deployment))
        self.resources: list[dict[str, Any]] = self.result.setdefault("resources", [])
        self.by_key = {(resource["urn"], resource.get("id", "")): resource for resource in self.resources}
        self.things = list(things)
        self.exists = {(thing.urn, thing.id): thing for thing in self.things}
        self.adopted: list[str] = []
        self.superfluous: list[str] = []
        self.updated: list[str] = []
        self.gone: list[str] = []

    def settle(self, operation: str, noted: Mapping[str, Any]) -> None:
        urn, key = noted["urn"], (noted["urn"], noted.get("id", ""))
        match operation:
            case "creating" | "importing":
                for thing in [thing for thing in self.things if thing.urn == urn]:
                    if (urn, thing.id) not in self.by_key:
                        self._adopt(noted, thing)
            case "updating" if key in self.exists and key in self.by_key:
                thing = self.exists[key]
                self.by_key[key] |= {"inputs": _stored(thing.inputs), "outputs": _stored(thing.outputs)}
                self.updated.append(urn)
            case "deleting" if key in self.by_key and _in_a_cloud(noted) and key not in self.exists:
                self._drop(key)

    def compare(self, older: Iterable[Mapping[str, Any]]) -> None:
        for key, resource in list(self.by_key.items()):
            if _in_a_cloud(resource) and key not in self.exists and not resource.get("pendingReplacement"):
                self._drop(key)
        if missing := self.missing():
            for earlier in older:
                self._restore(earlier.get("resources") or (), missing)
                missing = self.missing()
        for thing in missing:
            if noted := self._likely(thing):
                self._adopt(noted, thing)

    def missing(self) -> list[Thing]:
        return [thing for thing in self.things if (thing.urn, thing.id) not in self.by_key]

    def _restore(self, earlier: Iterable[Mapping[str, Any]], missing: Iterable[Thing]) -> None:
        """Takes over the records of things, with the components above them and their providers."""
        records = {record["urn"]: record for record in earlier if not record.get("delete")}
        wanted: set[str] = set()
        queue = [thing.urn for thing in missing if records.get(thing.urn, {}).get("id") == thing.id]
        while queue:
            urn = queue.pop()
            if urn in records and urn not in wanted and not self._holds(urn):
                wanted.add(urn)
                record = records[urn]
                queue += [record.get("parent", ""), record.get("provider", "").rpartition("::")[0]]
        for urn, record in records.items():  # in their order: each stands on earlier ones only
            thing = next((thing for thing in self.things if thing.urn == urn), None)
            if urn not in wanted:
                continue
            if thing:
                self._adopt(self._without_lost_links(record), thing)
            elif not _in_a_cloud(record):
                kept = self._without_lost_links(record)
                self.resources.append(kept)
                self.by_key[urn, kept.get("id", "")] = kept

    def _holds(self, urn: str) -> bool:
        return any(resource["urn"] == urn for resource in self.resources)

    def _without_lost_links(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The record without dependencies on what no longer exists; the next `up` writes them anew."""
        kept = copy.deepcopy(dict(record))
        kept["dependencies"] = [urn for urn in kept.get("dependencies") or () if self._holds(urn)]
        kept["propertyDependencies"] = {
            key: [urn for urn in urns or () if self._holds(urn)]
            for key, urns in (kept.get("propertyDependencies") or {}).items()
        }
        if not self._holds(kept.get("deletedWith", "")):
            kept.pop("deletedWith", None)
        return kept

    def _adopt(self, noted: Mapping[str, Any], thing: Thing) -> None:
        adopted = {**noted, "id": thing.id, "outputs": _stored(thing.outputs)}
        if self._holds(thing.urn):
            # As the engine marks the predecessor of a replacement that it has not deleted yet.
            adopted |= {"delete": True, "protect": False}
            self.superfluous.append(thing.urn)
        else:
            self.adopted.append(thing.urn)
        # Last: all that it stands on was there before the engine began it.
        self.resources.append(adopted)
        self.by_key[thing.urn, thing.id] = adopted

    def _drop(self, key: tuple[str, str]) -> None:
        resource = self.by_key[key]
        urn = resource["urn"]
        if not resource.get("delete") and any(_stands_on(other, urn) for other in self.resources):
            resource["pendingReplacement"] = True
        else:
            self.resources.remove(resource)
            del self.by_key[key]
        self.gone.append(urn)

    def _likely(self, thing: Thing) -> dict[str, Any] | None:
        """A record for what no note speaks of: its parent and provider are those of its like.

        Its dependencies and protection come with the next `up`.
        """
        types = thing.urn.split("::")[2].split("$")
        live = [resource for resource in self.resources if not resource.get("delete")]
        parents = [found["urn"] for found in live if found["urn"].split("::")[2].split("$") == types[:-1]]
        if not parents and len(types) == 1:
            parents = [found["urn"] for found in live if found["type"] == "pulumi:pulumi:Stack"]
        package = thing.token.partition(":")[0]
        like = [
            found for found in live if found["type"].partition(":")[0] == package and found.get("provider")
        ]
        if not parents or not like:
            return None
        parent = max(parents, key=lambda urn: _shared(_name(urn), _name(thing.urn)))
        providers = [found["provider"] for found in like if found.get("parent") == parent]
        if not providers and len({found["provider"] for found in like}) > 1:
            return None
        return {
            "urn": thing.urn,
            "custom": True,
            "type": thing.token,
            "parent": parent,
            "provider": (providers or [like[0]["provider"]])[0],
            "inputs": _stored(thing.inputs),
            "created": thing.created,
            "modified": thing.created,
        }


def _in_a_cloud(resource: Mapping[str, Any]) -> bool:
    return bool(
        resource.get("custom") and not resource.get("external") and not resource["type"].startswith(PROVIDERS)
    )


def _stands_on(resource: Mapping[str, Any], urn: str) -> bool:
    """As the engine's own check of a state sees it: a parent, a dependency, whatever is deleted with it."""
    named = {resource.get("parent"), resource.get("deletedWith"), *(resource.get("dependencies") or ())}
    for urns in (resource.get("propertyDependencies") or {}).values():
        named |= set(urns or ())
    return urn in named and resource["urn"] != urn


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def _shared(one: str, other: str) -> int:
    """How many characters two names begin with alike."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _stored(value: Any) -> Any:
    """A value of the providers' protocol as a deployment holds it: a secret in plain text, as JSON.

    The engine encrypts it as it reads the deployment (deserializeSecret in its
    pkg/resource/stack/deployment.go).
    """
    if isinstance(value, Mapping):
        if value.get(SIGNATURE) == SECRET and "value" in value:
            return {SIGNATURE: SECRET, "plaintext": json.dumps(_stored(value["value"]))}
        return {key: _stored(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_stored(inner) for inner in value]
    return value
