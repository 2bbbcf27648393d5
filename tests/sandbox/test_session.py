from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from gpuplatform.errors import ConfigError, SandboxError
from gpuplatform.sandbox import events, session

pytestmark = pytest.mark.engine


def fingerprint(project: Path) -> dict[str, str]:
    files = (file for file in project.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if ".gpuplatform" not in file.parts
    }


def test_up_makes_the_resources_and_says_what_it_made(project, open_sandbox):
    with open_sandbox(project) as sandbox:
        result = session.up(sandbox, "dev", quiet=True)

    assert result.exit_code == 0
    assert result.counts == {"create": 3}
    assert result.types == {"aws:test/thing:Thing": 2}
    assert result.outputs == {"size": 3, "id": "id-1", "token": "[secret]"}
    assert "hello from the program" in [diagnostic.message for diagnostic in result.diagnostics]
    assert 0 < result.duration_seconds < 60


def test_a_second_up_changes_nothing_also_from_a_new_sandbox(project, open_sandbox):
    with open_sandbox(project) as sandbox:
        session.up(sandbox, "dev", quiet=True)
    with open_sandbox(project) as sandbox:
        result = session.up(sandbox, "dev", quiet=True)

    assert (result.exit_code, result.changes) == (0, 0)
    assert result.outputs["id"] == "id-1"


def test_no_file_of_the_users_changes_whatever_is_done(project, open_sandbox):
    file = project / "stacks/config/Pulumi.dev.yaml"
    file.write_text("secretsprovider: awskms://alias/real\nencryptionsalt: v1:real:x\n" + file.read_text())
    before = fingerprint(project)

    with open_sandbox(project / "stacks") as sandbox:
        for arguments in (
            ["stack", "select", "--create", "dev"],
            ["preview"],
            ["up", "--yes", "--skip-preview", "--config", "tiny:extra=1"],
            ["stack", "output", "--show-secrets"],
            ["refresh", "--yes"],
            ["state", "unprotect", "--all", "--yes"],
            ["destroy", "--yes"],
            ["config", "--show-secrets"],
            ["stack", "rm", "--yes", "dev"],
        ):
            assert sandbox.run(["pulumi", *arguments], project / "stacks") == 0, arguments

    assert fingerprint(project) == before


def test_a_mandatory_violation_stops_up_before_anything_is_made(project, open_sandbox):
    with open_sandbox(project) as sandbox:
        result = session.up(sandbox, "prod", policy_packs=["policies/tiny"], quiet=True)
        state = json.loads(sandbox.home.state_file(sandbox.project, "prod").read_text())

    assert result.exit_code != 0
    assert {found.message for found in result.violations} == {"Things are small.\nsize 7 is over 5"}
    assert all(violation.mandatory and violation.policy == "small" for violation in result.violations)
    assert not state["checkpoint"]["latest"].get("resources")


def test_a_pack_that_has_nothing_to_say_lets_up_through(project, open_sandbox):
    with open_sandbox(project) as sandbox:
        result = session.up(sandbox, "dev", policy_packs=["policies/tiny"], quiet=True)

    assert (result.exit_code, result.violations) == (0, ())


def test_the_command_as_a_user_types_it_works_on_a_fresh_clone(project, open_sandbox, capfd):
    with open_sandbox(project) as sandbox:
        command = ["pulumi", "preview", "--stack", "prod", "--policy-pack", "policies/tiny"]
        code = sandbox.run(command, project)

    assert code != 0
    assert "size 7 is over 5" in capfd.readouterr().out


def test_two_stacks_have_a_state_each(project, open_sandbox):
    with open_sandbox(project) as sandbox:
        session.up(sandbox, "dev", quiet=True)
        session.up(sandbox, "prod", quiet=True)
        session.destroy(sandbox, "prod", include_protected=True, quiet=True)
        dev, prod = (session.preview(sandbox, stack, quiet=True) for stack in ("dev", "prod"))

    assert dev.counts == {"same": 3}
    assert prod.counts == {"create": 3}


def test_destroy_keeps_what_is_protected_and_says_so(project, open_sandbox):
    with open_sandbox(project) as sandbox:
        session.up(sandbox, "dev", quiet=True)
        kept = session.destroy(sandbox, "dev", quiet=True)
        all_ = session.destroy(sandbox, "dev", include_protected=True, quiet=True)

    assert (kept.exit_code, kept.counts["delete"]) == (0, 1)
    assert (all_.exit_code, all_.counts["delete"]) == (0, 2)


def test_lifting_the_protection_of_a_stack_that_is_not_there_is_an_error(project, open_sandbox):
    with open_sandbox(project) as sandbox, pytest.raises(SandboxError, match="could not be lifted"):
        session.destroy(sandbox, "dev", include_protected=True, quiet=True)


@pytest.mark.parametrize(("command", "code"), [("exit 7", 7), ("true", 0), ("kill -KILL $$", 137)])
def test_a_command_keeps_its_exit_code(project, open_sandbox, command, code):
    with open_sandbox(project) as sandbox:
        assert sandbox.run(["sh", "-c", command], project) == code


def test_a_command_that_does_not_exist_is_an_error_with_its_name(project, open_sandbox):
    with open_sandbox(project) as sandbox, pytest.raises(SandboxError, match="'no-such-command'"):
        sandbox.run(["no-such-command"], project)


def test_a_configuration_error_reaches_the_person_once_and_without_a_traceback(project, open_sandbox):
    (project / "stacks/__main__.py").write_text(
        "from gpuplatform.errors import ConfigError\n"
        "raise ConfigError('sku is misspelt', where='dev.yaml: pools[0].sku', way_out='did you mean x')\n"
    )
    with open_sandbox(project) as sandbox:
        result = session.preview(sandbox, "dev", quiet=True)

    [error] = [found for found in result.diagnostics if found.severity == "error"]
    assert result.exit_code != 0
    assert error.message == "dev.yaml: pools[0].sku: sku is misspelt\n  way out: did you mean x"


def test_an_error_in_a_later_step_of_a_program_is_clean_too(project, open_sandbox):
    with (project / "stacks/__main__.py").open("a") as file:
        file.write(
            "def refuse(value):\n"
            "    from gpuplatform.errors import Refusal\n"
            "    raise Refusal('no cloud has this')\n"
            "pulumi.export('x', pulumi.Output.from_input(1).apply(refuse))\n"
        )
    with open_sandbox(project) as sandbox:
        result = session.preview(sandbox, "dev", quiet=True)

    errors = "\n".join(found.message for found in result.diagnostics if found.severity == "error")
    assert result.exit_code != 0
    assert "no cloud has this" in errors
    assert "Traceback" not in errors


def test_a_folder_without_a_project_is_refused_before_anything_starts(tmp_path, open_sandbox):
    with pytest.raises(ConfigError, match=r"no Pulumi\.yaml"), open_sandbox(tmp_path):
        pytest.fail("opened")


SLOW_UP = """
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from conftest import YesClouds
from gpuplatform.sandbox import session

with session.Sandbox.open(Path({project!r}), report=print, serve=YesClouds) as sandbox:
    result = session.up(sandbox, "dev")
print("CODE", result.exit_code, flush=True)
"""

SLOW_PROGRAM = """
import os, time
open({file!r}, "w").write(f"{{os.getpgrp()}}\\n")
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("engine")
def test_an_interruption_cancels_the_engine_once_and_leaves_no_process(
    project, tmp_path, number, alive, wait_for
):
    started = tmp_path / "started"
    (project / "stacks/__main__.py").write_text(SLOW_PROGRAM.format(file=str(started)))
    script = SLOW_UP.format(tests=str(Path(__file__).parent), project=str(project))
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    program_group = int(wait_for(started))
    assert len(_engines_of(project)) == 1

    process.send_signal(number)
    output, _ = process.communicate(timeout=30)

    assert "CODE" in output
    assert "CODE 0" not in output
    assert "terminating" not in output, "the engine says so when it gets a second signal"
    assert "Traceback" not in output
    assert alive(program_group) == []
    assert alive(process.pid) == []
    assert _engines_of(project) == []


def _engines_of(project: Path) -> list[int]:
    rows = subprocess.run(
        ["ps", "-ewwo", "pid=,stat=,args="], capture_output=True, text=True, check=True
    ).stdout
    fields = [row.split(None, 2) for row in rows.splitlines()]
    return [int(pid) for pid, stat, args in fields if f"{project}/.gpuplatform" in args and stat[0] != "Z"]


def test_after_a_killed_engine_the_lock_is_lifted_as_pulumi_says_and_up_goes_on(
    project, tmp_path, open_sandbox, alive, wait_for
):
    program = (project / "stacks/__main__.py").read_text()
    started = tmp_path / "started"
    (project / "stacks/__main__.py").write_text(program + SLOW_PROGRAM.format(file=str(started)))

    def kill() -> None:
        groups.append(int(wait_for(started)))
        for pid in _engines_of(project):
            os.kill(pid, signal.SIGKILL)

    groups: list[int] = []
    with open_sandbox(project) as sandbox:
        killer = threading.Thread(target=kill)
        killer.start()
        killed = sandbox.pulumi(["up", "--yes", "--skip-preview", "--stack", "dev"], quiet=True)
        killer.join()
        program_left = alive(groups[0])
        (project / "stacks/__main__.py").write_text(program)
        locked = session.up(sandbox, "dev", quiet=True)
        cancelled = sandbox.run(["pulumi", "cancel", "--yes", "--stack", "dev"], project)
        resumed = session.up(sandbox, "dev", quiet=True)

    assert (killed.exit_code, program_left) == (137, [])
    assert locked.exit_code != 0
    assert (cancelled, resumed.exit_code) == (0, 0)
    assert resumed.outputs["size"] == 3


def test_two_first_commands_at_once_create_one_stack(project, open_sandbox):
    codes: list[int] = []
    with open_sandbox(project) as sandbox:
        command = ["pulumi", "config", "--stack", "dev"]
        create = ["pulumi", "preview", "--stack", "dev"]
        threads = [
            threading.Thread(target=lambda: codes.append(sandbox.run(create, project))) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        codes.append(sandbox.run(command, project))

    assert codes == [0, 0, 0]


def test_real_credentials_do_not_reach_a_program(project, open_sandbox, capfd):
    environ = {
        **os.environ,
        "AWS_SECRET_ACCESS_KEY": "s3cret",
        "ARM_CLIENT_SECRET": "s3cret",
        "PULUMI_ACCESS_TOKEN": "s3cret",
    }
    (project / "stacks/__main__.py").write_text(
        textwrap.dedent("""
        import os
        print([name for name, value in os.environ.items() if value == "s3cret"] or "nothing real")
        """)
    )
    with open_sandbox(project, environ) as sandbox:
        code = sandbox.run(["pulumi", "preview", "--stack", "dev"], project)

    assert code == 0
    assert "nothing real" in capfd.readouterr().out


def test_the_log_of_an_engine_that_was_killed_is_read_as_far_as_it_goes(tmp_path):
    log = tmp_path / "log"
    whole = {"summaryEvent": {"resourceChanges": {"create": 2}}}
    log.write_text(json.dumps(whole) + '\n{"diagnosticEvent": {"mess')

    assert events.read(log, 137, 1.0).counts == {"create": 2}


def test_a_call_that_never_reached_the_engine_has_an_empty_result(tmp_path):
    result = events.read(tmp_path / "none", 2, 0.1)

    assert (result.exit_code, result.counts, result.outputs, result.diagnostics) == (2, {}, {}, ())
