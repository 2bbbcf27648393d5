"""One run: the record goes into a state of its own, the engine works on that, the record comes out again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any, Final

from gpuplatform.bootstrap import record
from gpuplatform.bootstrap.adopt import adopted
from gpuplatform.bootstrap.engine import Engine
from gpuplatform.bootstrap.imports import named, without
from gpuplatform.bootstrap.outcome import Outcome
from gpuplatform.bootstrap.place import Place
from gpuplatform.bootstrap.program import TYPES_KEY
from gpuplatform.config import KEY, Platform, Project, from_file
from gpuplatform.errors import ConfigError, EngineError, GpuPlatformError, GuardrailError
from gpuplatform.plan import make
from gpuplatform.sandbox.events import Result
from gpuplatform.trust import github_of, variable
from gpuplatform.yamlfile import parse

__all__ = ["bootstrap"]

Report = Callable[[str], None]

_TAKEN: Final = re.compile(
    r"already ?exists|already ?owned|AlreadyExists|WithSameNameExists|Error 409|already taken|ScopeLocked",
    re.IGNORECASE,
)
"""How the clouds say that something is there: its name is taken, or its group is locked, as ours on Azure."""


def bootstrap(
    project: Project,
    stack: str,
    today: date,
    *,
    report: Report,
    preview: bool = False,
    imports: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Outcome:
    """Builds what a first `pulumi up` of the stack needs, or brings it in line with the stack's file.

    Args:
        project: The stack's project.
        stack: Its name.
        today: The day that the stack is planned at.
        report: Takes one line for the user.
        preview: Only shows what would be done.
        imports: What exists already and is taken over first, as `pulumi import --file` takes it.
        environ: The cloud's credentials and the engine's settings are taken from here.

    Raises:
        ConfigError: The stack's file names no repository, or is wrong; or two records contradict one another.
        GuardrailError: A mandatory verdict forbids the stack, so nobody knows what its identities may touch.
        EngineError: No engine, or what it did failed; what it made is in the record.
    """
    config = from_file(project, stack)
    github_of(config)
    if imports is not None:
        named(imports)
    variable(stack, "BACKEND_URL")
    types = _types(project, stack, today)
    place = Place.of(project.root, stack, environ)
    content = parse(project.stack_file(stack))
    with _locked(place, report) as lock:
        known = record.read(place.record)
        _refuse_contradiction(place)
        if not place.interrupted:
            place.end()  # what a run left that had not begun
        place.create(stack, {KEY: _plain(content["config"][KEY]), TYPES_KEY: types})
        with Engine.open(place, stack, report=report, environ=environ) as engine:
            _prepare(engine, known, report)
            if preview:
                return _previewed(engine, config, known)
            alone = known is None or bool(known.get(record.REFUSED))
            alone = alone and not place.interrupted  # what a killed run made is on record as well
            place.begin()
            result: Result | None = None
            try:
                result = _worked(engine, imports, lock, report)
            finally:
                # In every case: whatever became of the run, what it made is written down.
                made = engine.checkpoint()
                refused = result is not None and alone and _is_taken(result)
                _write(place, made, report, refused=refused)
        place.end()
    shown = _shown(place.record)
    if result.exit_code:
        raise _lost(result, made, shown) if refused else _failure(result, shown)
    return Outcome.of(stack, config, _outputs(made), result.counts, "" if place.simulated else shown)


def _worked(engine: Engine, imports: Path | None, lock: int, report: Report) -> Result:
    if imports is not None:
        checkpoint, gone = without(engine.checkpoint(), named(imports))
        if gone:
            engine.take(checkpoint)
            for one in gone:
                report(f"in no record any more, since {imports.name} names another in its place: {one}")
        flags = ("--yes", "--skip-preview", "--generate-code=false", "--protect=false")
        taken = engine.operate("import", "--file", str(imports.absolute()), *flags, lock=lock)
        if taken.exit_code:
            return taken
    return engine.operate("up", "--yes", "--skip-preview", lock=lock)


def _write(place: Place, made: dict[str, Any], report: Report, *, refused: bool) -> None:
    text = record.text_of(place.record, made, refused=refused)
    if text is not None:
        place.becomes(text)
        record.write(place.record, text)
        what = "what was simulated" if place.simulated else "commit it: nothing else records what was built"
        report(f"written: {_shown(place.record)}; {what}")


def _types(project: Project, stack: str, today: date) -> list[str]:
    """Type tokens of what the stack builds: what its identities may touch."""
    plan = make(project, stack, today)
    if plan.blocked:
        raise GuardrailError(
            "a mandatory verdict forbids this stack, so nobody knows what its identities need",
            where=stack,
            way_out=f"`gpuplatform plan {stack}` says which, and why",
        )
    return sorted({count.type for count in plan.resources if not count.component})


def _plain(value: Any) -> Any:
    """As the engine reads a configuration: a date is text."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _refuse_contradiction(place: Place) -> None:
    if place.interrupted and record.digest(place.record) not in place.bases:
        raise ConfigError(
            "a run was killed here, and since then the record has changed",
            where=str(place.folder),
            rule="what the killed run made stands in neither record alone",
            way_out=f"bring back the record that it began with (`git log -- {_shown(place.record)}`) and run "
            "this again; or, where the newer record knows all that exists, remove the folder",
        )


def _prepare(engine: Engine, known: dict[str, Any] | None, report: Report) -> None:
    """The state that this run begins with: a killed run's, or the record's, or none."""
    if not engine.place.interrupted:
        engine.ask("stack", "init", engine.stack, "--no-select", "--secrets-provider", "passphrase")
        if known is not None:
            engine.take(known)
        return
    report("a run was killed here: its work is taken up")
    # Nobody else works here: the lock that every run takes is ours, so this one is a dead engine's.
    engine.ask("cancel", "--yes", "--stack", engine.stack)
    left = adopted(engine.checkpoint())
    if left.pending:
        engine.take(left.checkpoint)
        for line in left.unknown:
            report(line)
        result = engine.operate("refresh", "--yes", "--skip-preview")
        if result.exit_code:
            raise EngineError(
                "what a killed run began could not be looked at: " + _errors(result),
                way_out="run it again; nothing is lost",
            )


def _previewed(engine: Engine, config: Platform, known: dict[str, Any] | None) -> Outcome:
    result = engine.operate("preview")
    if not engine.place.interrupted:
        engine.place.end()
    if result.exit_code:
        raise EngineError("the preview failed: " + _errors(result))
    return Outcome.of(engine.stack, config, _outputs(known or {}), result.counts)


def _outputs(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    """What the program exported."""
    for resource in checkpoint.get("deployment", {}).get("resources") or []:
        if resource["type"] == "pulumi:pulumi:Stack":
            return dict(resource.get("outputs") or {})
    return {}


def _is_taken(result: Result) -> bool:
    """Whether the cloud has things that the run was about to make."""
    return bool(result.exit_code) and _TAKEN.search(_errors(result)) is not None


def _lost(result: Result, made: dict[str, Any], file: str) -> GpuPlatformError:
    here = [
        f"  - {resource['type']} {resource['id']}"
        for resource in record.resources(made)
        if resource.get("custom") and not resource["type"].startswith("pulumi:providers:")
    ]
    return EngineError(
        "\n".join(
            (
                "the cloud has some of it already, and there was no record of it here",
                _errors(result),
                *(["what this run made:", *here] if here else []),
            )
        ),
        where=file,
        rule="what is in no record is never taken over unasked: it may be somebody else's",
        way_out=f"where this stack was bootstrapped before, its record is in git: `git log -- {file}`, "
        f"`git checkout COMMIT -- {file}`, remove what this run made, and run it again. Where the record is "
        "lost, name what exists in a file and run it with --import FILE (docs/ci.md, The record is lost)"
        + _another_s_issuer(_errors(result)),
    )


def _another_s_issuer(errors: str) -> str:
    """An AWS account trusts GitHub's issuer once, so a second environment in it finds that done."""
    if "openidconnectprovider" not in errors.casefold():
        return ""
    return (
        ". Where another environment of this account has been bootstrapped before, none of that: write "
        "`create_provider: false` below identity.github and run it again, it goes on from here"
    )


def _failure(result: Result, file: str) -> GpuPlatformError:
    return EngineError(
        f"the bootstrap did not come to its end\n{_errors(result)}",
        where=file,
        way_out="what it made is in the record; correct the cause and run it again: it goes on from there"
        + ("; what exists already is taken over with --import FILE (docs/ci.md)" * _is_taken(result))
        + (_another_s_issuer(_errors(result)) * _is_taken(result)),
    )


def _errors(result: Result) -> str:
    found = dict.fromkeys(one.message for one in result.diagnostics if one.severity == "error")
    return "\n".join(f"  - {message}" for message in found) or f"  - exit code {result.exit_code}"


@contextmanager
def _locked(place: Place, report: Report) -> Iterator[int]:
    """Holds the place; the descriptor can be handed to the engine, which then holds it as well."""
    import fcntl

    place.lock.parent.mkdir(parents=True, exist_ok=True)
    with place.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("another bootstrap of this stack is at work; waiting")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def _shown(file: Path) -> str:
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)
