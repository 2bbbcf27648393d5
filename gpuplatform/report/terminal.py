"""A plan, and what became of it, for a person at a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gpuplatform.guardrails import NOT_COUNTED, CostLine, Status, Verdict, usd
from gpuplatform.plan import Action, Changes, Plan, Step
from gpuplatform.report import tables
from gpuplatform.report.tiers import tier_of
from gpuplatform.report.words import fabric_of, gpus_of

__all__ = ["Outcome", "show_outcome", "show_plan"]

_STYLE = {
    Status.PASS: "green",
    Status.WARN: "yellow",
    Status.FAIL: "bold red",
    Status.NOT_EVALUATED: "magenta",
}
_LOG_WIDTH = 132
_WORST = (Status.FAIL, Status.NOT_EVALUATED, Status.WARN, Status.PASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an update left behind.

    Attributes:
        components: Components in the stack.
        resources: Resources beside them.
        changes: What the update did, by the engine's word (create, update, same ...).
        outputs: The stack's outputs; secrets are not among them.
        next_steps: Commands to type next, each with what it does.
    """

    components: int
    resources: int
    changes: Mapping[str, int]
    outputs: Mapping[str, Any]
    next_steps: tuple[tuple[str, str], ...]


def show_plan(plan: Plan, console: Console | None = None) -> None:
    """Prints all of a plan: pools, cost, verdicts, resources."""
    out = console or _console()
    config = plan.decision.config
    out.print(
        f"[bold]{escape(plan.stack)}[/]: {escape(config.name)}-{escape(config.environment)} on "
        f"{config.cloud.provider} {escape(config.cloud.region)}, Kubernetes "
        f"{config.cluster.kubernetes_version}, judged at {plan.today}"
    )
    tables.show(out, _pools(plan))
    if plan.decision.storage:
        tables.show(out, _storage(plan))
    if (before := _preconditions(plan)) is not None:
        tables.show(out, before)
    tables.show(out, _cost(plan))
    tables.show(out, _verdicts(plan.decision.verdicts))
    if plan.blocked:
        blocking = len(plan.decision.failures)
        out.print(f"[bold red]blocked[/]: {blocking} mandatory verdict(s) fail, so nothing would be created")
        return
    tables.show(out, _resources(plan))
    if plan.changes is not None:
        for part in _changes(plan.changes):
            if isinstance(part, str):
                out.print(part)
            else:
                tables.show(out, part)
    if plan.changes is not None and plan.changes.other_environment:
        out.print(
            "[yellow]another environment[/]: the cluster itself is replaced, and all that stands on it. Take "
            "the old one down first (what is protected stays), then bring this one up"
        )
    if plan.changes is not None and plan.changes.fails:
        count = len(plan.changes.fails)
        out.print(
            f"[bold red]not ready[/]: {count} step(s) cannot be done, so the update would fail half-way"
        )
        return
    out.print(f"[bold green]ready[/]: {_summary(plan)}")


def show_outcome(plan: Plan, outcome: Outcome, console: Console | None = None) -> None:
    """Prints the end of an update: what is there, what it costs, what it says, what to type next."""
    out = console or _console()
    table = Table(box=SIMPLE_HEAD, show_header=False, title=f"{plan.stack} is up", title_justify="left")
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    changes = ", ".join(f"{count} {what}" for what, count in outcome.changes.items() if count) or "nothing"
    table.add_row("components", str(outcome.components))
    table.add_row("resources", str(outcome.resources))
    table.add_row("this run", f"{changes} (the stack, components and providers included)")
    for gpus in plan.gpus:
        table.add_row(f"GPUs ({gpus.model})", f"{gpus.minimum} at minimum, {gpus.maximum} at maximum")
    cost = plan.decision.cost
    table.add_row("US dollars a month", f"{_usd(cost.minimum)} at minimum, {_usd(cost.maximum)} at maximum")
    for rule, (status, count) in _by_rule(plan.decision.verdicts).items():
        table.add_row(f"guardrail {rule}", f"[{_STYLE[status]}]{status.value}[/] ({count} checked)")
    for key, value in outcome.outputs.items():
        table.add_row(key, escape(str(value)))
    tables.show(out, table)
    out.print("[bold]next[/]")
    for command, what in outcome.next_steps:
        out.print(f"  {escape(command)}", highlight=False, soft_wrap=True)  # whole, to be copied
        out.print(f"      [dim]{escape(what)}[/]", highlight=False)


def _console() -> Console:
    console = Console(highlight=False)
    # A log file has no width of its own, and eighty columns would break every row.
    return console if console.is_terminal else Console(highlight=False, width=_LOG_WIDTH)


def _pools(plan: Plan) -> Table:
    columns = (
        "pool",
        "machine",
        "GPUs a node",
        "nodes",
        "capacity",
        "fabric",
        "driver",
        "image",
        "local disks",
    )
    table = tables.table(*columns, title="pools", wide="capacity")
    pools = {pool.name: pool for pool in plan.decision.config.node_pools}
    for profile in plan.decision.profiles:
        pool = pools.pop(profile.pool)
        table.add_row(
            profile.pool,
            profile.sku,
            gpus_of(profile),
            f"{pool.nodes.min} to {pool.nodes.max}",
            escape(f"{profile.capacity.kind} {profile.capacity.id}".strip()),
            fabric_of(profile),
            type(profile.driver).__name__.removesuffix("Driver").upper(),
            profile.image,
            profile.local_disks.mode,
        )
    for pool in pools.values():  # no machine of that name, or none with a GPU: the verdicts say which
        nodes = f"{pool.nodes.min} to {pool.nodes.max}"
        table.add_row(pool.name, escape(pool.sku), "?", nodes, pool.capacity.kind, "?", "?", "?", "?")
    return table


def _storage(plan: Plan) -> Table:
    table = tables.table("tier", "what", "size", "cache", "teams", "a teardown", title="storage", wide="what")
    for tier in map(tier_of, plan.decision.storage):
        teams = [team.name for team in plan.decision.config.teams if tier.name in team.storage]
        everybody = "all" if tier.tier == "block" else "-"
        table.add_row(
            tier.name,
            escape(tier.what),
            tier.size,
            tier.cache,
            ", ".join(teams) or everybody,
            "keeps it" if tier.kept else "[yellow]deletes it with its data[/]",
        )
    return table


def _preconditions(plan: Plan) -> Table | None:
    """What a person must have done before; no program can look it up offline."""
    if not plan.decision.preconditions:
        return None
    table = tables.table("for", "what it stands on", title="before you deploy", wide="what it stands on")
    for subject, sentence in plan.decision.preconditions:
        table.add_row(subject, escape(sentence))
    return table


def _cost(plan: Plan) -> Table:
    cost = plan.decision.cost
    right = ("USD an hour", "minimum", "maximum")
    table = tables.table(
        "for",
        "item",
        "USD an hour",
        "count",
        "minimum",
        "maximum",
        "price",
        title="cost of a month",
        right=right,
        wide="price",
    )
    for line in cost.lines:
        table.add_row(
            line.subject,
            line.item,
            "unpriced" if line.usd_per_hour is None else f"{line.usd_per_hour.normalize():f}",
            f"{_count(line.minimum_count)} to {_count(line.maximum_count)}",
            _usd(line.minimum),
            _usd(line.maximum),
            _price(line),
        )
    table.add_section()
    table.add_row("all", "", "", "", _usd(cost.minimum), _usd(cost.maximum), "", style="bold")
    table.caption = f"not counted: {', '.join(NOT_COUNTED)}"
    table.caption_justify = "left"
    return table


def _verdicts(verdicts: tuple[Verdict, ...]) -> Table:
    """Everything that is not a pass in full, the passes in one line a rule."""
    table = tables.table(
        "guardrail", "verdict", "subject", "what it says", title="guardrails", wide="what it says"
    )
    passes: dict[str, list[str]] = {}
    for status in _WORST[:-1]:
        for verdict in verdicts:
            if verdict.status is status:
                way_out = f"\n[dim]{escape(verdict.way_out)}[/]" if verdict.way_out else ""
                blocks = ", blocks" if verdict.blocks else ""
                table.add_row(
                    verdict.rule,
                    f"[{_STYLE[status]}]{status.value}[/]{blocks}",
                    escape(verdict.subject),
                    f"{escape(verdict.message)}{way_out}",
                )
    for verdict in verdicts:
        if verdict.status is Status.PASS:
            passes.setdefault(verdict.rule, []).append(verdict.subject)
    for rule, subjects in passes.items():
        names = list(dict.fromkeys(subjects))
        single = next(v.message for v in verdicts if v.rule == rule and v.status is Status.PASS)
        told = single if len(subjects) == 1 else ", ".join(names)
        table.add_row(
            rule, "[green]pass[/]", names[0] if len(names) == 1 else f"{len(names)} subjects", escape(told)
        )
    return table


def _resources(plan: Plan) -> Table:
    table = tables.table("resource type", "count", title="what would exist", right=("count",))
    for part in sorted(plan.resources, key=lambda part: (not part.component, part.type)):
        table.add_row(part.type, str(part.count), style="bold" if part.component else "")
    return table


_ACTION_STYLE: dict[Action, str] = {
    "create": "green",
    "update": "yellow",
    "replace": "bold red",
    "delete": "red",
    "forget": "red",
}


def _changes(changes: Changes) -> Iterator[Table | str]:
    """What an update would do, a component's steps together, and what it could not tell."""
    table = tables.table(
        "step", "part of", "resource", "what changes", title="against the state", wide="what changes"
    )
    for step in changes.steps:
        word = step.action.upper() if step.action == "replace" else step.action
        kind = step.type.rpartition(":")[2]
        name = escape(f"{kind} {step.name}")
        table.add_row(f"[{_ACTION_STYLE[step.action]}]{word}[/]", escape(step.component), name, _why(step))
    if changes.steps:
        yield table
    counts = Counter(step.action for step in changes.steps)
    told = ", ".join(f"{counts[action]} to {action}" for action in _ACTION_STYLE if counts[action])
    yield f"against the state: {told or 'nothing changes'}, {changes.same} stay as they are"
    if changes.not_compared:
        hidden = escape(", ".join(changes.not_compared))
        yield f"[magenta]not compared[/], since the export does not tell: {hidden}"
    for operation in changes.interrupted:
        yield f"[magenta]interrupted[/]: {escape(operation)}; what it left is not known before a refresh"


def _why(step: Step) -> str:
    because = set(step.because)
    parts = [escape(", ".join((*step.because, *(path for path in step.changed if path not in because))))]
    if step.refused:
        parts.append(f"[bold red]the cloud refuses to change {escape(', '.join(step.refused))}[/]")
    if step.protected:
        parts.append("[bold red]protected: the engine refuses[/]")
    return "\n".join(part for part in parts if part)


def _summary(plan: Plan) -> str:
    components = sum(part.count for part in plan.resources if part.component)
    resources = sum(part.count for part in plan.resources if not part.component)
    gpus = ", ".join(f"{gpu.minimum} to {gpu.maximum} {gpu.model}" for gpu in plan.gpus)
    cost = plan.decision.cost
    return (
        f"{components} components, {resources} resources, GPUs {gpus}, "
        f"{_usd(cost.minimum)} to {_usd(cost.maximum)} a month"
    )


def _by_rule(verdicts: tuple[Verdict, ...]) -> dict[str, tuple[Status, int]]:
    counts = Counter(verdict.rule for verdict in verdicts)
    return {
        rule: (next(s for s in _WORST if any(v.rule == rule and v.status is s for v in verdicts)), count)
        for rule, count in counts.items()
    }


def _count(count: int | None) -> str:
    return "?" if count is None else str(count)


def _usd(amount: Decimal | None) -> str:
    return "not known" if amount is None else usd(amount)


def _price(line: CostLine) -> str:
    origin = "" if line.origin in {"", "catalogue"} else f", {line.origin}"
    return f"{line.basis}{f', {line.date}' if line.date else ''}{escape(origin)}"
