"""What is left to do after a bootstrap, for a person at a terminal."""

from __future__ import annotations

from rich.console import Console

from gpuplatform.bootstrap.outcome import Outcome
from gpuplatform.report import tables

__all__ = ["show"]


def show(outcome: Outcome, out: Console | None = None) -> None:
    """Prints where to put what; nothing of it is a secret."""
    out = out or Console(highlight=False)
    done = ", ".join(f"{count} {verb}" for verb, count in sorted(outcome.changes.items()))
    out.print(f"bootstrap of {outcome.stack}: {done or 'nothing to do'}")
    if not outcome.backend_url:
        out.print("what is to be set is known once it is built")
        return
    put = tables.table("where", "what", wide="what")
    for where, what in _places(outcome):
        put.add_row(where, what)
    tables.show(out, put)
    variables = tables.table("variable", "value", title=f"Variables of {outcome.repository}", wide="value")
    for one in outcome.variables:
        variables.add_row(one.name, one.value)
    tables.show(out, variables)
    for line in _steps(outcome):
        # A command that is broken over lines cannot be copied.
        out.print(f"- {line}", markup=False, soft_wrap=True)


def _places(outcome: Outcome) -> list[tuple[str, str]]:
    found = [
        ("Pulumi.yaml, backend: url:", outcome.backend_url),
        (f"Pulumi.{outcome.stack}.yaml, secretsprovider:", outcome.secrets_provider),
    ]
    for key, whom, missing in (
        ("cluster.admins", outcome.admin, outcome.admin_missing),
        ("cluster.viewers", outcome.viewer, outcome.viewer_missing),
    ):
        if missing is None:
            found.append((f"a group of {key}", f"add the object ID {whom} to its members"))
        else:
            found.append((key, whom if missing else f"{whom} (it is there)"))
    return found


def _steps(outcome: Outcome) -> list[str]:
    stack = outcome.stack
    init = f"pulumi stack init {stack} --secrets-provider '{outcome.secrets_provider}'"
    environments = ", ".join(outcome.environments)
    safe = (
        f"on GitHub, make the environments {environments}, each with deployments from the main branch only: "
        "whoever may deploy there may do all that the deploying identity may"
    )
    return [
        *([f"commit {outcome.record}: nothing else records what was built"] if outcome.record else []),
        f"PULUMI_BACKEND_URL='{outcome.backend_url}' {init}; commit what it writes into the stack's file",
        safe,
        f"gpuplatform workflow {stack} > .github/workflows/{stack}.yml",
    ]
