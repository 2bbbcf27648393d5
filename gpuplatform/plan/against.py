"""A plan against a stack's state: what an update would create, change, replace and delete; offline.

The program runs as in the engine's own preview: each resource is compared when it is registered, what stays
is known to whatever depends on it, and what is new or replaced is not. Which changes replace is
`gpuplatform.replacement`. A state that the cloud has drifted from is believed: only a refresh can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gpuplatform.plan.changes import Action, Changes, Step
from gpuplatform.plan.recorder import UNKNOWN, Recording, Registered, record
from gpuplatform.plan.state import SECRET, Existing, State
from gpuplatform.replacement import Change, changes, covers, name_input, refuses, replacement, replaces

__all__ = ["against"]

_PROVIDER = "pulumi:providers:"
# The engine's own notes on a provider; a newer SDK changes the version, and no resource with it.
_PROVIDER_NOTES = ("version", "pluginDownloadURL", "pluginChecksums", "__internal")


def against(state: State, program: Callable[[], Any], *, stack: str) -> tuple[Changes, Recording]:
    """What an update of `state` by `program` would do, and what the program registered.

    Components are left out: they are nothing in the cloud, and their parts say all.
    """
    preview = _Preview(state)
    name = stack.rsplit("/", 1)[-1]
    recording = record(program, project=state.project, stack=name, known=preview.register)
    found = Changes(
        steps=(*preview.steps, *preview.leftovers()),
        same=preview.same,
        not_compared=tuple(preview.not_compared),
        interrupted=state.interrupted,
    )
    return found, recording


class _Preview:
    """Compares as the program registers."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._seen: set[str] = set()
        self._touched: set[str] = set()
        self._replaced: set[str] = set()
        self.steps: list[Step] = []
        self.not_compared: list[str] = []
        self.same = 0

    def register(self, resource: Registered) -> tuple[str, Mapping[str, Any]] | None:
        """Notes the step; the ID and outputs where the resource stays, None where it is new."""
        old = self._find(resource)
        if old is None:
            self.steps.append(_step("create", resource.type, resource.urn, resource.parent))
            self._touched.add(resource.urn)
            return None
        self._seen.add(old.urn)
        compared = _Comparison(old, resource, self._touched)
        self.not_compared += (f"{resource.name} {path}" for path in compared.hidden)
        because = tuple(change.path for change in compared.changes if _forces(old, resource, change))
        if resource.provider in self._replaced:
            because = (*because, "provider")
        if not compared.changes and not because:
            self.same += 1
            return old.id, _open(old.outputs)
        step = _step(
            "replace" if because else "update",
            resource.type,
            resource.urn,
            resource.parent,
            changed=tuple(change.path for change in compared.changes),
            because=because,
            refused=() if because else _refused(resource.type, compared.changes),
            protected=bool(because) and old.protect,
        )
        self.steps.append(step)
        self._touched.add(resource.urn)
        if because:
            self._replaced.add(resource.urn)
            return None
        return old.id, _after_update(old, resource, step.changed)

    def leftovers(self) -> Iterator[Step]:
        """What the program no longer registers; dependents were made later and go first."""
        gone = (r for r in self._state.resources.values() if r.urn not in self._seen)
        for old in reversed([*self._state.pending_deletes, *gone]):
            if not old.custom or old.external or _is_default_provider(old):
                continue
            action: Action = "forget" if old.retain_on_delete else "delete"
            yield _step(action, old.type, old.urn, old.parent, protected=old.protect)

    def _find(self, resource: Registered) -> Existing | None:
        head, _, _name = resource.urn.rpartition("::")
        named = (alias if alias.startswith("urn:") else f"{head}::{alias}" for alias in resource.aliases)
        for urn in (resource.urn, *named):
            if (old := self._state.resources.get(urn)) is not None and not old.external:
                return old
        return None


class _Comparison:
    """The inputs of what exists against those of the program."""

    def __init__(self, old: Existing, new: Registered, touched: set[str]) -> None:
        self.hidden: list[str] = []
        self.changes: list[Change] = []
        before, after = _comparable(old, new)
        for change in changes(before, after):
            if any(_within(change.path, path) for path in new.ignore_changes):
                continue
            if _is_hidden(change, new, touched):
                self.hidden.append(change.path)
            else:
                self.changes.append(change)


def _is_hidden(change: Change, new: Registered, touched: set[str]) -> bool:
    """Whether a difference says nothing: one side is secret, or unknown from nothing that changes."""
    if _holds(change.new, UNKNOWN):
        return touched.isdisjoint(new.property_dependencies.get(_top(change.path), ()))
    return _holds(change.old, SECRET)


def _top(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


def _comparable(old: Existing, new: Registered) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both as the provider would have checked them: its defaults and made-up name carried over."""
    before, after = _without_defaults(old.inputs, new.inputs), dict(new.inputs)
    if old.type.startswith(_PROVIDER):
        return {k: v for k, v in before.items() if k not in _PROVIDER_NOTES}, after
    path = name_input(old.type, (*before, *after))
    head, _, leaf = path.rpartition(".")
    inside = before.get(head) if head else before
    if path and isinstance(inside, Mapping) and leaf in inside:
        given = after.get(head) or {} if head else after
        if leaf not in given:
            # No name given: the one that was made up stays, with the note that it was.
            kept = {leaf: inside[leaf], **{k: inside[k] for k in ("annotations",) if head and k in inside}}
            after = {**after, head: {**kept, **given}} if head else {**kept, **after}
    return before, after


def _without_defaults(old: Any, new: Any) -> Any:
    """`old` without what the provider filled in and the program still leaves to it."""
    if isinstance(old, Mapping):
        given = new if isinstance(new, Mapping) else {}
        filled = set(old.get("__defaults") or ()) - set(given)
        return {
            key: _without_defaults(value, given.get(key))
            for key, value in old.items()
            if key not in filled and not key.startswith("__")
        }
    if isinstance(old, list):
        given_list = new if isinstance(new, list) else []
        return [
            _without_defaults(value, given_list[index] if index < len(given_list) else None)
            for index, value in enumerate(old)
        ]
    return old


def _forces(old: Existing, new: Registered, change: Change) -> bool:
    if old.type.startswith(_PROVIDER):
        # The Kubernetes provider moves only with its cluster; the clouds' own are changed in place
        # (pulumi-kubernetes, provider/pkg/provider/provider.go, DiffConfig).
        return change.path == "clusterIdentifier"
    if any(path == "*" for path in new.replace_on_changes) or covers(new.replace_on_changes, change.path):
        return True
    return replaces(old.type, change, name_input(old.type, (*old.inputs, *new.inputs)))


def _refused(token: str, found: Iterable[Change]) -> tuple[str, ...]:
    return tuple(change.path for change in found if refuses(token, change))


def _after_update(old: Existing, new: Registered, changed: tuple[str, ...]) -> dict[str, Any]:
    """The outputs as a preview knows them: the old ones, less what changes or is computed anew."""
    touched = set(map(_top, changed))
    kept = {key: value for key, value in _open(old.outputs).items() if key not in touched}
    return {**kept, **dict.fromkeys(replacement(new.type).recomputed, UNKNOWN)}


def _open(value: Any) -> Any:
    """Outputs for the program: what the export hides is unknown to it."""
    if isinstance(value, Mapping):
        return {key: _open(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_open(inner) for inner in value]
    return UNKNOWN if value == SECRET else value


def _holds(value: Any, mark: str) -> bool:
    if isinstance(value, Mapping):
        return any(_holds(inner, mark) for inner in value.values())
    if isinstance(value, list):
        return any(_holds(inner, mark) for inner in value)
    return isinstance(value, str) and value == mark


def _within(path: str, ignored: str) -> bool:
    return path == ignored or path.startswith((f"{ignored}.", f"{ignored}["))


def _is_default_provider(old: Existing) -> bool:
    return old.type.startswith(_PROVIDER) and old.name.startswith("default")


def _step(action: Action, type_: str, urn: str, parent: str, **more: Any) -> Step:
    component = "" if "::pulumi:pulumi:Stack::" in parent else parent.rpartition("::")[2]
    return Step(action=action, type=type_, name=urn.rpartition("::")[2], urn=urn, component=component, **more)
