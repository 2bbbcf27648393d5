from __future__ import annotations

from pathlib import Path

import pytest

from gpuplatform.errors import ConfigError, EngineError, GpuPlatformError
from gpuplatform.sandbox import shim
from gpuplatform.sandbox.workspace import Home, find_project


@pytest.fixture
def engine_script(tmp_path):
    """An engine that notes each call, and makes the state file that `stack init` makes."""
    file = tmp_path / "engine"
    file.write_text(
        f"""#!/bin/sh
echo "$PWD: $*" >> {tmp_path}/calls
mkdir -p "$STATE" && touch "$STATE/$(basename "$3").json"
"""
    )
    file.chmod(0o755)
    return file


@pytest.fixture
def calls(tmp_path):
    return lambda: (tmp_path / "calls").read_text().splitlines() if (tmp_path / "calls").exists() else []


@pytest.fixture
def environ(project, tmp_path):
    state = Home.of(find_project(project), {"GPUPLATFORM_HOME": str(tmp_path / "home")})
    return {
        "GPUPLATFORM_HOME": str(tmp_path / "home"),
        "PATH": "/usr/bin:/bin",
        "STATE": str(state.state_file(find_project(project), "x").parent),
    }


@pytest.fixture
def route(project, environ, engine_script):
    def route_(*arguments, cwd=project, **more):
        return shim.route(arguments, cwd, environ | more, engine_script)

    return route_


@pytest.mark.parametrize(
    "arguments",
    [
        ["preview", "--stack", "dev"],
        ["preview", "--stack=dev"],
        ["preview", "-s", "dev"],
        ["preview", "-s=dev"],
        ["preview", "-sdev"],
        ["-s", "dev", "preview"],
        ["--color", "never", "preview", "--stack", "dev"],
        ["-v", "3", "--stack", "dev", "preview"],
        ["pre", "--json", "--stack", "dev", "--policy-pack", "p"],
    ],
)
def test_the_stack_is_found_however_it_is_written(arguments):
    call = shim.parse(arguments)

    assert call.stack == "dev"
    assert call.command in ("preview", "pre")


def test_a_flag_whose_value_is_a_commands_name_is_no_command():
    call = shim.parse(["--color", "preview", "stack", "select", "up"])

    assert (call.command, call.subcommand) == ("stack", "select")


def test_what_follows_two_dashes_is_handed_on_as_it_is():
    call = shim.parse(["up", "--", "--stack", "x"])

    assert (call.stack, call.rest) == ("", ("--", "--stack", "x"))


def test_an_operation_gets_the_sandboxs_copy_and_keeps_its_own_flags_and_folder(route, project, tmp_path):
    step = route("--color", "never", "preview", "--stack", "dev", "--policy-pack", "policies/tiny", "--json")

    copy = tmp_path / "home/sandbox/projects/tiny/Pulumi.dev.yaml"
    assert step.arguments == (
        *("--color", "never", "preview", "--stack", "dev", "--config-file", str(copy)),
        *("--policy-pack", "policies/tiny", "--json"),
    )
    assert step.cwd == project
    assert copy.is_file()


def test_the_users_own_config_file_is_replaced_by_a_copy_of_it(route, project):
    (project / "mine.yaml").write_text("config: {tiny:size: 9}\n")

    step = route("up", "-s", "dev", "--config-file", "mine.yaml")

    assert "mine.yaml" not in step.arguments
    assert Path(step.arguments[4]).read_text() == "config: {tiny:size: 9}\n"


@pytest.mark.parametrize("command", ["preview", "pre", "up", "update", "import"])
def test_a_first_use_creates_the_stack_in_the_shadow_folder(route, calls, tmp_path, command):
    route(command, "--stack", "dev")
    route(command, "--stack", "dev")

    assert calls() == [f"{tmp_path}/home/sandbox/projects/tiny: stack init dev --no-select --non-interactive"]


@pytest.mark.parametrize("command", ["refresh", "destroy", "down", "config"])
def test_a_stack_that_is_not_there_is_not_created_to_be_taken_down(route, calls, command):
    route(command, "--stack", "dev")

    assert calls() == []


def test_a_stack_that_cannot_be_created_is_an_error_with_the_engines_words(route, engine_script):
    engine_script.write_text("#!/bin/sh\necho passphrase is wrong >&2\nexit 255\n")

    with pytest.raises(EngineError, match="passphrase is wrong"):
        route("up", "--stack", "dev")


def test_the_stack_comes_from_the_environment_where_no_flag_names_it(route):
    assert route("preview", PULUMI_STACK="prod").arguments[:3] == ("preview", "--stack", "prod")


def test_the_flag_wins_over_the_environment(route):
    assert route("preview", "-s", "dev", PULUMI_STACK="prod").arguments[2] == "dev"


def test_an_organisation_in_the_stacks_name_does_not_change_its_file(route):
    assert route("preview", "-s", "organization/tiny/dev").arguments[4].endswith("/Pulumi.dev.yaml")


def test_without_a_stack_the_known_ones_are_listed(route):
    with pytest.raises(ConfigError, match="needs a stack") as caught:
        route("up", "--yes")

    assert "dev, prod" in caught.value.way_out


@pytest.mark.parametrize("sub", ["set", "rm", "set-all", "rm-all", "refresh", "cp", "env"])
def test_a_change_of_the_configuration_is_refused(route, sub):
    with pytest.raises(ConfigError, match=f"pulumi config {sub}"):
        route("config", sub, "a", "b", "--stack", "dev")


def test_reading_the_configuration_reads_the_copy(route):
    assert route("config", "get", "size", "-s", "dev").arguments[-2:] == ("get", "size")


@pytest.mark.parametrize("flag", ["--remove", "--remove=true"])
def test_destroy_with_remove_is_refused_because_it_deletes_the_users_file(route, flag):
    with pytest.raises(ConfigError, match="would delete your configuration file"):
        route("destroy", "--yes", flag, "--stack", "dev")


@pytest.mark.parametrize("command", ["login", "logout"])
def test_entering_another_state_is_refused(route, command):
    with pytest.raises(GpuPlatformError, match="no place in the sandbox"):
        route(command)


@pytest.mark.parametrize(
    "arguments",
    [("stack", "rm", "dev"), ("stack", "ls"), ("state", "unprotect", "--all", "-s", "dev"), ("cancel",)],
)
def test_what_has_no_config_file_flag_runs_in_the_shadow_folder(route, tmp_path, arguments):
    step = route(*arguments)

    assert step.cwd == tmp_path / "home/sandbox/projects/tiny"
    assert step.arguments[0] == arguments[0]
    assert (step.cwd / "Pulumi.yaml").is_file()


@pytest.mark.parametrize("arguments", [("--file", "out.json"), ("--file=out.json",)])
def test_a_file_named_there_is_one_in_the_users_folder(route, project, arguments):
    step = route("stack", "export", *arguments)

    assert str(project / "out.json") in "=".join(step.arguments)


@pytest.mark.parametrize(
    "arguments", [("version",), ("about",), ("plugin", "ls"), ("up", "--help"), ("stack", "-h"), ()]
)
def test_what_needs_no_stack_goes_to_the_engine_as_it_is(route, project, arguments):
    step = route(*arguments)

    assert (step.arguments, step.cwd) == (arguments, project)


def test_another_folder_is_honoured_as_the_engine_does(route, project, tmp_path):
    step = route("-C", "project/stacks", "preview", "-s", "dev", cwd=tmp_path)

    assert step.cwd == project / "stacks"
    assert "-C" not in step.arguments


def test_outside_a_project_an_operation_is_refused(route, tmp_path):
    with pytest.raises(ConfigError, match=r"no Pulumi\.yaml"):
        route("up", "-s", "dev", cwd=tmp_path)


def test_the_shim_works_from_a_folder_with_blanks_and_names_the_way_in(tmp_path):
    import subprocess

    home = Home(root=tmp_path / "a b" / "c's")
    home.create()

    done = subprocess.run(
        [shim.install(home), "up"], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )

    assert done.returncode == 4
    assert "gpuplatform sandbox exec" in done.stderr
    assert "Traceback" not in done.stderr
