"""`gpuplatform sandbox`: the real engine over simulated clouds."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from gpuplatform.errors import ConfigError

if TYPE_CHECKING:
    from gpuplatform.plan import Plan
    from gpuplatform.report.terminal import Outcome
    from gpuplatform.sandbox.cloud.world import Thing
    from gpuplatform.sandbox.events import Result
    from gpuplatform.sandbox.session import Sandbox
    from gpuplatform.sandbox.workspace import Home, Project

__all__ = ["app"]

app = typer.Typer(
    help="Run the real Pulumi engine over simulated clouds: no account, no credential, nothing spent.",
    no_args_is_help=True,
)

Stack = Annotated[str, typer.Argument(help="The stack, such as aws-dev.", show_default=False)]
Packs = Annotated[
    list[str] | None,
    typer.Option(
        "--policy-pack", help="Folder of a policy pack; may be repeated. Otherwise each pack below policies/."
    ),
]


@app.command()
def up(stack: Stack, policy_pack: Packs = None) -> None:
    """Plan a stack offline, bring it up, and say what is there; a violation ends it with nothing made."""
    from gpuplatform.sandbox import session
    from gpuplatform.sandbox.session import Sandbox

    plan = _planned(stack)
    _refuse_locked(stack)
    with Sandbox.open(Path.cwd(), report=_report) as sandbox:
        packs = _packs(sandbox, policy_pack)
        result = session.up(sandbox, stack, policy_packs=packs)
    if plan is not None and result.exit_code == 0:
        from gpuplatform.report.terminal import show_outcome

        show_outcome(plan, _outcome(stack, result, packs))
    _leave(result.exit_code)


@app.command()
def preview(stack: Stack, policy_pack: Packs = None) -> None:
    """Show what `up` would do and what the policy packs say."""
    from gpuplatform.sandbox import session

    _operate(lambda sandbox: session.preview(sandbox, stack, policy_packs=_packs(sandbox, policy_pack)))


@app.command()
def refresh(stack: Stack) -> None:
    """Bring the state in line with what exists in the simulated clouds."""
    from gpuplatform.sandbox import session

    _refuse_locked(stack)
    _operate(lambda sandbox: session.refresh(sandbox, stack))


@app.command()
def destroy(
    stack: Stack,
    *,
    include_protected: Annotated[
        bool,
        typer.Option("--include-protected", help="Lift the protection first, then take everything down."),
    ] = False,
) -> None:
    """Take a stack down; what is protected stays."""
    from gpuplatform.sandbox import session

    def operation(sandbox: Sandbox) -> Result:
        result = session.destroy(sandbox, stack, include_protected=include_protected)
        # A cloud's own protection ends it with an error, and is lifted in the same way.
        ended = result.exit_code == 0 or any("protect" in one.message for one in result.diagnostics)
        if ended and not include_protected and (kept := _protected(sandbox, stack)):
            _report(
                f"{kept} protected resources stay, with what they need; to take them down too: "
                f"{_as_typed()} sandbox destroy {stack} --include-protected"
            )
        return result

    _refuse_locked(stack)
    if not include_protected:
        _refuse_unprotected(stack)
    _operate(operation)


@app.command()
def recover(stack: Stack) -> None:
    """Make a stack whole after a killed command: files, lock, and what the cloud made meanwhile."""
    from gpuplatform.sandbox.recover import recover as repair
    from gpuplatform.sandbox.session import Sandbox

    with Sandbox.open(Path.cwd(), report=_report) as sandbox:
        found = repair(sandbox, stack, typer.echo)
    if found.unknown:
        typer.echo(
            f"{found.unknown} resources of the stack {stack} exist and stand in no state: no `destroy` takes "
            "them down. Adopt each with `pulumi import`, or forget all with "
            f"{_as_typed()} sandbox reset {stack}"
        )
        _leave(1)
    typer.echo(
        f"the stack {stack} is whole again; to go on: {_as_typed()} sandbox up {stack}"
        if found.repaired
        else f"nothing was wrong with the stack {stack}"
    )
    _leave(0)


@app.command(
    "exec",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="--",
)
def execute(command: Annotated[list[str], typer.Argument(metavar="COMMAND...", show_default=False)]) -> None:
    """Run any command over the simulated clouds, such as: exec -- pulumi preview --stack aws-dev."""
    from gpuplatform.sandbox.session import Sandbox

    with Sandbox.open(Path.cwd(), report=_report) as sandbox:
        code = sandbox.run(command, Path.cwd())
    _leave(code)


@app.command()
def cloud(
    stack: Annotated[str | None, typer.Argument(help="One stack only.", show_default=False)] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with all properties.")] = False,
) -> None:
    """List what exists in the simulated clouds, whatever Pulumi's state says."""
    from gpuplatform.sandbox.workspace import Home, find_project

    project = find_project(Path.cwd())
    home = Home.of(project)
    things = _things(home, stack)
    known = sorted({*project.stacks(), *home.stacks(project)})
    if stack is not None and not things and stack.removeprefix(f"{project.name}/") not in known:
        raise ConfigError(
            f"there is no stack {stack!r}",
            where=str(project.stack_config_dir),
            way_out=f"the stacks are: {', '.join(known) or 'none'}",
        )
    if as_json:
        typer.echo(
            json.dumps(
                [{name: getattr(thing, name) for name in thing.__slots__} for thing in things], indent=2
            )
        )
        return
    for thing in things:
        typer.echo(f"{thing.stack}  {thing.token}  {thing.id}")
    typer.echo(f"{len(things)} resources exist{f' of the stack {stack}' if stack else ''}")


@app.command()
def reset(
    stack: Annotated[
        str | None, typer.Argument(help="One stack; otherwise the whole sandbox.", show_default=False)
    ] = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Forget a stack's state and all that it made in the simulated clouds, or the whole sandbox."""
    from gpuplatform.sandbox.cloud.world import World
    from gpuplatform.sandbox.workspace import Home, find_project

    project = find_project(Path.cwd())
    home = Home.of(project)
    what = f"the stack {stack} in the sandbox" if stack else f"the whole sandbox in {home.root}"
    if stack and not home.state_file(project, stack).is_file():
        raise ConfigError(
            f"the sandbox has no stack {stack!r}",
            where=str(home.root),
            way_out=f"it has: {', '.join(home.stacks(project)) or 'none'}",
        )
    _refuse_at_work(home, project, [stack] if stack else home.stacks(project))
    if not yes and not typer.confirm(f"Remove {what}?"):
        raise typer.Exit(1)
    if not stack:
        shutil.rmtree(home.root, ignore_errors=True)
        typer.echo("removed")
        return
    with closing(World(home.world)) as world:
        gone = world.forget(f"{project.name}/{stack}")
    home.forget(project, stack)
    typer.echo(f"removed, with {gone} simulated resources")


def _things(home: Home, stack: str | None) -> list[Thing]:
    """What exists; a question makes no folder and no file."""
    from gpuplatform.sandbox.cloud.world import World

    if not home.world.exists():
        return []
    with closing(World(home.world)) as world:
        return world.all(stack)


def _protected(sandbox: Sandbox, stack: str) -> int:
    """How many resources Pulumi's protection or the cloud's own keeps; many a cluster has both."""
    from gpuplatform.sandbox.cloud.world import World

    bare = stack.rpartition("/")[2]
    with closing(World(sandbox.home.world)) as world:
        by_cloud = len(world.protected(f"{sandbox.project.name}/{bare}"))
    return max(by_cloud, sandbox.home.protected(sandbox.project, bare))


def _operate(operation: Callable[[Sandbox], Result]) -> NoReturn:
    from gpuplatform.sandbox.session import Sandbox

    with Sandbox.open(Path.cwd(), report=_report) as sandbox:
        result = operation(sandbox)
    _leave(result.exit_code)


def _refuse_locked(stack: str) -> None:
    """The engine refuses too, in the words of its file backend; this comes before it and knows who died."""
    from gpuplatform.sandbox import lock
    from gpuplatform.sandbox.workspace import Home, find_project

    project = find_project(Path.cwd())
    lock.refuse(Home.of(project), project, stack.rpartition("/")[2], us=_as_typed())


def _refuse_unprotected(stack: str) -> None:
    from gpuplatform.cli.teardown import refuse_unprotected
    from gpuplatform.sandbox.workspace import Home, find_project

    project = find_project(Path.cwd())
    bare = stack.rpartition("/")[2]
    refuse_unprotected(Home.of(project), project, bare, us=_as_typed(), report=_report)


def _refuse_at_work(home: Home, project: Project, stacks: Iterable[str]) -> None:
    """What a dead command left locked may be forgotten; what a living one works on may not."""
    from gpuplatform.sandbox import lock

    for stack in stacks:
        if any(lock.lives(held) for held in lock.locks(home, project, stack)):
            lock.refuse(home, project, stack, us=_as_typed())


def _planned(stack: str) -> Plan | None:
    """The offline plan, printed; None for a program of somebody's own, which has no platform to plan.

    It comes before the engine is looked for: it needs none, and where a mandatory verdict fails, nothing else
    is done.
    """
    from gpuplatform import clock
    from gpuplatform.config import find_project, has_platform
    from gpuplatform.plan import make
    from gpuplatform.report.terminal import show_plan

    project = find_project(Path.cwd())
    if not has_platform(project, stack):
        return None
    plan = make(project, stack, clock.today())
    show_plan(plan)
    if plan.blocked:
        raise typer.Exit(1)
    return plan


def _outcome(stack: str, result: Result, packs: Sequence[str]) -> Outcome:
    from gpuplatform.report.terminal import Outcome
    from gpuplatform.sandbox.events import SECRET

    components = sum(count for type_, count in result.types.items() if type_.startswith("gpuplatform:"))
    us = _as_typed()
    # From where the reader is, which may be a folder below the project's.
    packs_option = "".join(f" --policy-pack {shlex.quote(os.path.relpath(pack))}" for pack in packs)
    return Outcome(
        components=components,
        resources=sum(result.types.values()) - components,
        changes=result.counts,
        outputs={key: value for key, value in result.outputs.items() if value != SECRET},
        next_steps=(
            (f"{us} sandbox cloud {stack}", "what the simulated cloud holds, whatever Pulumi's state says"),
            (
                f"{us} sandbox exec -- pulumi preview --stack {stack}{packs_option}",
                "any command of the engine's, as you would type it with an account",
            ),
            (f"{us} sandbox destroy {stack}", "take it down; what is protected stays"),
            (
                f"pulumi up --stack {stack}{packs_option}",
                "the same with real credentials, in the real cloud: this one costs money",
            ),
        ),
    )


def _as_typed() -> str:
    """How to call this command again: by its name where that finds it, else by its path."""
    if shutil.which("gpuplatform"):
        return "gpuplatform"
    path = Path(sys.argv[0]).absolute()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _packs(sandbox: Sandbox, given: Sequence[str] | None) -> list[str]:
    if given:
        return [str(Path(pack).absolute()) for pack in given]
    found = sandbox.project.root.glob("policies/*/PulumiPolicy.yaml")
    return sorted(str(file.parent) for file in found)


def _report(line: str) -> None:
    typer.echo(line, err=True)


def _leave(code: int) -> NoReturn:
    """Ends this process at once: gRPC's threads would otherwise be waited for."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
