"""`gpuplatform accept STACK`: do the pools reach the collective bandwidth of their machines?"""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from gpuplatform.accept import Verdict
    from gpuplatform.config import NodePool
    from gpuplatform.profile import NodeProfile

__all__ = ["accept"]

NOT_MEASURED = 5


def accept(  # noqa: PLR0917 - typer's parameters are options, named by those who call
    stack: Annotated[str, typer.Argument(help="The stack, as in stacks/config/Pulumi.STACK.yaml.")],
    project: Annotated[Path, typer.Option(help="A folder of the Pulumi project.")] = Path(),
    pool: Annotated[
        list[str] | None, typer.Option(help="A pool; may be repeated. Every pool where it is left out.")
    ] = None,
    write: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the manifests there, and run nothing.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judge a saved log of one pool, and run nothing.")
    ] = None,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="The cluster's kubeconfig; else kubectl's own.")
    ] = None,
    context: Annotated[str | None, typer.Option(help="The context in it; else the current one.")] = None,
    nodes: Annotated[int, typer.Option(min=2, max=1000, help="Whole nodes that take part.")] = 2,
    image: Annotated[
        str | None, typer.Option(help="An image with nccl-tests, Open MPI and sshd; else the cloud's own.")
    ] = None,
    start_minutes: Annotated[
        int, typer.Option(min=1, max=1440, help="How long pods may wait for nodes.")
    ] = 30,
    save_logs: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep each pool's log there.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
) -> None:
    """Run NCCL over whole nodes of each pool, wired as the pool's own jobs are, and judge what it measures.

    Needs kubectl and ssh-keygen; all that it makes is in one namespace, and is deleted at the end. Exit code
    0: every pool passes; 1: one fails; 5: one was not measured, and none fails; 2: the configuration is
    wrong; 4: the cluster cannot be asked.
    """
    from gpuplatform.accept import judge, not_measurable, parse
    from gpuplatform.errors import ConfigError

    chosen = _pools(project, stack, pool)
    if write is not None:
        _write(write, chosen, nodes, image)
        return
    if log is not None:
        if len(chosen) != 1:
            names = ", ".join(profile.pool for _, profile in chosen)
            raise ConfigError(f"a log is of one pool, and there are {names}", way_out="name it with --pool")
        verdicts = [judge(chosen[0][1], parse(_read(log)))]
    else:
        from gpuplatform.accept.kubectl import Kubectl
        from gpuplatform.accept.run import Settings, run

        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        kubectl = Kubectl(kubeconfig=kubeconfig, context=context)
        settings = Settings(nodes=nodes, image=image, start_seconds=start_minutes * 60)
        verdicts = []
        for each, profile in chosen:
            verdict = not_measurable(profile, each.nodes.max)
            if verdict is None:
                verdict, text = run(profile, kubectl, settings, lambda line: typer.echo(line, err=True))
                if save_logs is not None and text:
                    save_logs.mkdir(parents=True, exist_ok=True)
                    (save_logs / f"{stack}-{profile.pool}.log").write_text(text, encoding="utf-8")
            verdicts.append(verdict)
    _show(verdicts, as_json=as_json)
    raise typer.Exit(_exit_code(verdicts))


def _pools(project: Path, stack: str, wanted: list[str] | None) -> list[tuple[NodePool, NodeProfile]]:
    from gpuplatform import clock
    from gpuplatform.config import find_project
    from gpuplatform.errors import ConfigError
    from gpuplatform.plan import decided

    decision = decided(find_project(project), stack, clock.today())
    profiles = {profile.pool: profile for profile in decision.profiles}
    pools = [pool for pool in decision.config.node_pools if pool.name in profiles]
    known = ", ".join(pool.name for pool in pools) or "none"
    for name in wanted or ():
        if name not in profiles:
            raise ConfigError(f"{stack} has no pool {name!r}", way_out=f"its pools are {known}")
    return [(pool, profiles[pool.name]) for pool in pools if not wanted or pool.name in wanted]


def _write(folder: Path, chosen: list[tuple[NodePool, NodeProfile]], nodes: int, image: str | None) -> None:
    from gpuplatform.accept import manifests, not_measurable
    from gpuplatform.accept.keys import new_keys

    folder.mkdir(parents=True, exist_ok=True)
    for pool, profile in chosen:
        if (verdict := not_measurable(profile, pool.nodes.max)) is not None:
            typer.echo(f"{profile.pool}: nothing written, {verdict.reason}")
            continue
        objects = manifests(
            profile,
            nodes=nodes,
            namespace=f"gpuplatform-accept-{profile.pool}",
            keys=new_keys(),
            image=image,
        )
        file = folder / f"{profile.pool}.yaml"
        # It holds the job's ssh key: nobody else's to read.
        file.touch(mode=0o600)
        file.write_text(_yaml(objects), encoding="utf-8")
        typer.echo(
            f"{file}: kubectl create -f {file}; kubectl delete namespace gpuplatform-accept-{profile.pool}"
        )


def _yaml(objects: Sequence[Mapping[str, Any]]) -> str:
    import yaml

    from gpuplatform.yamlfile import PlainDumper

    return yaml.dump_all(objects, Dumper=PlainDumper, sort_keys=False)


def _read(file: Path) -> str:
    from gpuplatform.errors import ConfigError

    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(f"the log cannot be read: {error.strerror}", where=str(file)) from None


def _show(verdicts: list[Verdict], *, as_json: bool) -> None:
    import dataclasses
    import json

    if as_json:
        listed: list[dict[str, Any]] = [dataclasses.asdict(verdict) for verdict in verdicts]
        typer.echo(json.dumps({"version": 1, "verdicts": listed}, indent=2))
        return
    for verdict in verdicts:
        over = f" [{', '.join(verdict.transports)}]" if verdict.transports else ""
        typer.echo(f"{verdict.pool} ({verdict.sku}): {verdict.outcome.value}{over}: {verdict.reason}")


def _exit_code(verdicts: list[Verdict]) -> int:
    from gpuplatform.accept import Outcome

    outcomes = {verdict.outcome for verdict in verdicts}
    if Outcome.FAIL in outcomes:
        return 1
    return NOT_MEASURED if Outcome.NOT_MEASURED in outcomes or not outcomes else 0
