"""The GitHub Actions workflow of a stack: pull requests are previewed, pushes to the branch are deployed.

It is data, written by the YAML library. Nothing that somebody else may choose (a branch's name, a title)
stands in a script, and the stack's name reaches the shell as a variable only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import yaml

from gpuplatform.config import Github, Platform
from gpuplatform.errors import ConfigError
from gpuplatform.permissions import Role
from gpuplatform.trust.actions import ACTIONS, RUNNER, uses
from gpuplatform.trust.login import PREVIEW_MINUTES, environ, login
from gpuplatform.trust.ticks import ticks
from gpuplatform.trust.variables import VARIABLES, reference, variable
from gpuplatform.yamlfile import PlainDumper

__all__ = ["deploying_environment", "github_of", "workflow"]

Part = dict[str, Any]

PACKS: Final = ("policies/gpu", "policies/security")
PYTHON: Final = "3.13"

_LONGEST_JOB: Final = 360
"""Minutes that a job may take on GitHub's own runners (https://docs.github.com/actions/reference/limits)."""

_BRANCH: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,200}")


def workflow(
    stack: str, config: Platform, *, engine_version: str, environment: str | None = None, branch: str = "main"
) -> str:
    """The workflow's text, for `.github/workflows/STACK.yml`.

    Args:
        stack: The stack's name.
        config: What its file says.
        engine_version: The Pulumi engine that is installed.
        environment: Which of the repository's environments deploys it; see `deploying_environment`.
        branch: The branch that is deployed.

    Raises:
        ConfigError: The configuration names no repository, or not that environment, or a name is none.
    """
    if not _BRANCH.fullmatch(branch):
        raise ConfigError(f"{branch!r} is no name of a branch", rule="letters, digits and . _ / -")
    it = _Stack(
        name=stack,
        config=config,
        engine_version=engine_version,
        environment=deploying_environment(stack, config, environment),
        branch=branch,
    )
    content = {
        "name": stack,
        "on": _on(it),
        "permissions": {},
        "defaults": {"run": {"shell": "bash"}},  # with pipefail, unlike the shell that GitHub takes unasked
        "jobs": {"preview": _preview(it), "deploy": _deploy(it)},
    }
    return _HEAD.format(stack=stack) + _with_releases(yaml.dump(content, Dumper=_Dumper, **_STYLE))


def deploying_environment(stack: str, config: Platform, wanted: str | None = None) -> str:
    """The repository's environment that deploys a stack: the wanted one, its namesake, or the only one.

    Raises:
        ConfigError: The configuration does not name the wanted one, or leaves open which it is.
    """
    names = github_of(config).environments
    by_name = {name.casefold(): name for name in names}
    if wanted is not None:
        if wanted not in names:
            raise ConfigError(
                f"the deploying identity does not trust the environment {wanted!r}",
                where="identity.github.environments",
                way_out=f"name one of {', '.join(names)}, or add it and run `gpuplatform bootstrap {stack}`",
            )
        return wanted
    for candidate in (stack, config.environment):
        if candidate.casefold() in by_name:
            return by_name[candidate.casefold()]
    if len(names) == 1:
        return names[0]
    raise ConfigError(
        f"it is open which of the environments {', '.join(names)} deploys {stack}",
        where="identity.github.environments",
        way_out="name it with --environment",
    )


def github_of(config: Platform) -> Github:
    """The repository that deploys the environment.

    Raises:
        ConfigError: The configuration names none.
    """
    if config.identity is None:
        raise ConfigError(
            "`identity` is missing: no repository is trusted to deploy this environment",
            where="identity",
            way_out="add `identity: {github: {repository: OWNER/NAME, environments: [NAME]}}` to the stack's "
            "file; docs/ci.md shows the whole way",
        )
    return config.identity.github


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stack:
    name: str
    config: Platform
    engine_version: str
    environment: str
    branch: str


def _on(it: _Stack) -> Part:
    on: Part = {
        "pull_request": {"branches": [it.branch]},
        "push": {"branches": [it.branch]},
        "workflow_dispatch": None,
    }
    if found := ticks(it.config):
        on["schedule"] = found
    return on


def _preview(it: _Stack) -> Part:
    return {
        # A pull request from a fork gets no token of the repository's, so it cannot be previewed.
        "if": "github.event_name == 'pull_request' && "
        "github.event.pull_request.head.repo.full_name == github.repository",
        # No environment: with one, the token's subject would be a deployment's.
        "concurrency": {
            "group": f"gpuplatform-{it.name}-preview-${{{{ github.event.pull_request.number }}}}",
            "cancel-in-progress": True,
        },
        **_job(it, "preview", PREVIEW_MINUTES),
        "steps": [
            *_install(it),
            {"name": "Plan offline", "run": 'gpuplatform plan "$STACK"'},
            *_become(it, "preview", PREVIEW_MINUTES),
            {"name": "Preview", "run": _pulumi("preview", *_packs())},
        ],
    }


def _deploy(it: _Stack) -> Part:
    minutes = github_of(it.config).session_minutes
    up = {"run": _pulumi("up --yes", *_packs())}
    return {
        # The environment's own rule must name the branch too: another branch's workflow would say otherwise.
        "if": f"github.event_name != 'pull_request' && github.ref == 'refs/heads/{it.branch}'",
        "environment": it.environment,
        # Two updates of a stack would meet the state's lock; here the second waits. `queue: max` keeps all
        # that wait, where a newer one would take an older one's place
        # (https://docs.github.com/actions/how-tos/write-workflows/choose-when-workflows-run/control-workflow-concurrency).
        "concurrency": {"group": f"gpuplatform-{it.name}", "cancel-in-progress": False, "queue": "max"},
        **_job(it, "deploy", min(minutes, _LONGEST_JOB)),
        "steps": [
            *_install(it),
            *_become(it, "deploy", minutes),
            *(
                [_SCHEDULE, {"name": "Up", "if": f"{_WANTED} == 'up'", **up}, _DOWN]
                if ticks(it.config)
                else [{"name": "Up", **up}]
            ),
        ],
    }


_WANTED: Final = "steps.schedule.outputs.wanted"
_SCHEDULE: Final[Part] = {
    "name": "What the schedule wants",
    "id": "schedule",
    "run": """\
wanted=$(gpuplatform schedule "$STACK" --json | jq -er '.stacks[0].wanted')
echo "wanted=$wanted" >> "$GITHUB_OUTPUT"
""",
}


def _pulumi(command: str, *flags: str) -> str:
    return " ".join(("pulumi", command, '--non-interactive --stack "$STACK"', *flags))


def _packs() -> tuple[str, ...]:
    return tuple(f"--policy-pack {pack}" for pack in PACKS)


_DOWN: Final[Part] = {
    "name": "Down, but for what is protected",
    "if": f"{_WANTED} == 'down' || {_WANTED} == 'gone'",
    "run": _pulumi("destroy --yes --exclude-protected"),
}


def _job(it: _Stack, role: Role, minutes: int) -> Part:
    return {
        "runs-on": RUNNER,
        # It ends before its credentials do: an update that is cancelled can still save its state.
        "timeout-minutes": minutes,
        "permissions": {"contents": "read", "id-token": "write"},
        "env": {
            "STACK": it.name,
            "PULUMI_BACKEND_URL": reference(it.name, "BACKEND_URL"),
            **environ(it.name, it.config, role),
        },
    }


def _install(it: _Stack) -> list[Part]:
    requirements = f"requirements/{it.config.cloud.provider}.txt"
    return [
        {"uses": uses("actions/checkout"), "with": {"persist-credentials": False}},
        {"uses": uses("actions/setup-python"), "with": {"python-version": PYTHON}},
        {
            "name": "Install gpuplatform",
            "run": f"python -m pip install --require-hashes --requirement {requirements}\n"
            "python -m pip install --no-deps --no-build-isolation --editable .\n",
        },
        # Without a command, this action installs the engine and does nothing else.
        {"uses": uses("pulumi/actions"), "with": {"pulumi-version": it.engine_version}},
    ]


def _become(it: _Stack, role: Role, minutes: int) -> list[Part]:
    """The login, after a look at its variables: to GitHub, one that is missing is an empty text."""
    keys = VARIABLES[it.config.cloud.provider]
    found = {variable(it.name, key): reference(it.name, key) for key in keys}
    check = {
        "name": "Variables are set",
        "env": found,
        "run": "".join(f': "${{{name}:?set this variable of the repository}}"\n' for name in found),
    }
    return [check, *login(it.name, it.config, role, minutes)]


_HEAD: Final = """\
# Written by `gpuplatform workflow {stack}`: change the stack's file and write it anew, not this.
# What must be there before it runs: docs/ci.md.
"""


class _Dumper(PlainDumper):
    """Lists indented as people do it in workflows."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - theirs
        super().increase_indent(flow, False)


_STYLE: Final[dict[str, Any]] = {"sort_keys": False, "width": 200, "default_flow_style": False}


def _with_releases(text: str) -> str:
    """The release beside each commit, for whoever updates them: the YAML library writes no comments."""
    for action, (commit, release) in ACTIONS.items():
        text = text.replace(f"uses: {action}@{commit}\n", f"uses: {action}@{commit} # {release}\n")
    return text
