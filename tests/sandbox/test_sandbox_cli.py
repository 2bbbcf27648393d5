from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from gpuplatform.cli import sandbox as command
from gpuplatform.sandbox.cloud.world import World
from gpuplatform.sandbox.events import Result

BUCKETS = """
import pulumi


class Bucket(pulumi.CustomResource):
    def __init__(self, name, opts=None):
        super().__init__("aws:s3/bucket:Bucket", name, {}, opts)


Bucket("kept", pulumi.ResourceOptions(protect=True))
Bucket("other")
"""


@pytest.fixture
def gpuplatform(project):
    """Runs the command as a user does, in the project's folder, and returns what came of it."""
    (project / "stacks/__main__.py").write_text(BUCKETS)

    def run(*arguments, cwd=project, **environ):
        return subprocess.run(
            [sys.executable, "-c", "from gpuplatform.cli import main; main()", *arguments],
            cwd=cwd,
            env={**os.environ, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    return run


@pytest.fixture
def nothing(tmp_path):
    """A machine where no engine is to be had."""
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text("#!/bin/sh\n[ $1 = env ] && echo go9.9.9 && exit 0\necho no such module >&2\nexit 1\n")
    go.chmod(0o755)
    return {
        "PATH": f"{go.parent}:/usr/bin:/bin",
        "GPUPLATFORM_CACHE": str(tmp_path / "cache"),
        "GPUPLATFORM_ENGINE_MIRROR": "http://127.0.0.1:9",
    }


@pytest.mark.parametrize(
    "command", [("sandbox", "up", "dev"), ("sandbox", "exec", "--", "true"), ("engine", "ensure")]
)
def test_without_an_engine_the_command_says_what_is_missing_and_fails(gpuplatform, nothing, command):
    done = gpuplatform(*command, **nothing)

    assert done.returncode == 4
    for step in ("PATH: no `pulumi`", "cache: no ", "download: http://127.0.0.1:9", "build: building failed"):
        assert step in done.stderr
    assert "gpuplatform plan" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [("engine",), ("engine", "path")])
def test_asking_for_an_engine_where_there_is_none_names_the_way_to_one(gpuplatform, nothing, command):
    done = gpuplatform(*command, **nothing)

    assert done.returncode == 4
    assert "gpuplatform engine ensure" in done.stderr


def test_the_engine_that_would_be_used_is_shown_with_the_reason(gpuplatform, nothing, tmp_path):
    pulumi = tmp_path / "bin" / "pulumi"
    pulumi.write_text("#!/bin/sh\necho v3.274.1\n")
    pulumi.chmod(0o755)

    assert f"PATH: {pulumi} (3.274.1)" in gpuplatform("engine", **nothing).stdout
    assert gpuplatform("engine", "path", **nothing).stdout.strip() == str(pulumi)


def test_outside_a_project_the_command_says_so(gpuplatform, tmp_path):
    done = gpuplatform("sandbox", "cloud", cwd=tmp_path)

    assert done.returncode == 2
    assert "no Pulumi.yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_line_loads_neither_pulumi_nor_grpc():
    script = (
        "import sys, gpuplatform.cli.sandbox, gpuplatform.cli.engine\n"
        "print({'pulumi', 'grpc'} & set(sys.modules))"
    )

    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "set()"


@pytest.mark.parametrize("stack", ["nope", "%", "d_v", "tiny/nope", "another/dev"])
def test_asking_for_a_stack_that_there_is_not_is_refused_and_makes_no_folder(gpuplatform, project, stack):
    done = gpuplatform("sandbox", "cloud", stack)

    assert done.returncode == 2
    assert f"there is no stack '{stack}'" in done.stderr
    assert "the stacks are: dev, prod" in done.stderr
    assert not (project / ".gpuplatform").exists()


@pytest.mark.parametrize("question", [("dev",), ("tiny/dev",), ()])
def test_asking_what_exists_before_anything_does_makes_no_folder(gpuplatform, project, question):
    done = gpuplatform("sandbox", "cloud", *question)

    assert done.returncode == 0
    assert "0 resources exist" in done.stdout
    assert not (project / ".gpuplatform").exists()


def _garbage(file):
    file.write_bytes(b"this is no database, but it is long enough to be taken for one" * 100)


def _truncated(file):
    with closing(World(file)) as world:
        for number in range(200):
            world.add(
                cloud="aws",
                scope="1",
                token="aws:s3/bucket:Bucket",  # noqa: S106 - a type
                id=str(number),
                name="",
                urn="urn:pulumi:dev::tiny::t::n",
                inputs={"text": "x" * 500},
                outputs={},
            )
    file.write_bytes(file.read_bytes()[:20_000])


def _folder(file):
    file.mkdir()


def _other_schema(file):
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE resources (something)")


@pytest.mark.parametrize("damage", [_garbage, _truncated, _folder, _other_schema])
def test_damaged_clouds_are_a_sentence_and_a_reset_is_the_way_out(gpuplatform, project, damage, tmp_path):
    file = project / ".gpuplatform/sandbox/clouds.sqlite"
    file.parent.mkdir(parents=True)
    damage(file)
    pulumi = tmp_path / "bin" / "pulumi"
    pulumi.parent.mkdir()
    pulumi.write_text("#!/bin/sh\necho v3.274.1\n")
    pulumi.chmod(0o755)

    asked = gpuplatform("sandbox", "cloud", "dev")
    brought_up = gpuplatform("sandbox", "up", "dev", PATH=f"{pulumi.parent}:/usr/bin:/bin")

    for done in (asked, brought_up):
        assert done.returncode == 4, done.stderr
        assert f"error: {file}: the simulated clouds' file cannot be used: " in done.stderr
        assert "`gpuplatform sandbox reset`" in done.stderr
        assert "Traceback" not in done.stderr
    assert gpuplatform("sandbox", "reset", "--yes").returncode == 0
    assert "0 resources exist" in gpuplatform("sandbox", "cloud", "dev").stdout


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_a_stacks_life_from_up_to_reset(gpuplatform, project):
    up = gpuplatform("sandbox", "up", "dev")
    made = json.loads(gpuplatform("sandbox", "cloud", "dev", "--json").stdout)
    destroyed = gpuplatform("sandbox", "destroy", "dev")
    kept = json.loads(gpuplatform("sandbox", "cloud", "--json").stdout)
    others = json.loads(gpuplatform("sandbox", "cloud", "prod", "--json").stdout)
    refused = gpuplatform("sandbox", "reset", "dev")
    reset = gpuplatform("sandbox", "reset", "dev", "--yes")
    after = gpuplatform("sandbox", "cloud")
    again = gpuplatform("sandbox", "reset", "dev", "--yes")

    assert up.returncode == 0, up.stdout + up.stderr
    assert sorted(thing["urn"].rpartition("::")[2] for thing in made) == ["kept", "other"]
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert [thing["urn"].rpartition("::")[2] for thing in kept] == ["kept"]
    assert "1 protected resources stay" in destroyed.stderr
    assert "sandbox destroy dev --include-protected" in destroyed.stderr
    assert others == []
    assert refused.returncode == 1
    assert "with 1 simulated resources" in reset.stdout
    assert "0 resources exist" in after.stdout
    assert again.returncode == 2
    assert "the sandbox has no stack 'dev'" in again.stderr
    assert (project / "stacks/config/Pulumi.dev.yaml").is_file()


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_destroy_with_the_protected_leaves_nothing(gpuplatform, project):
    gpuplatform("sandbox", "up", "dev")
    destroyed = gpuplatform("sandbox", "destroy", "dev", "--include-protected")
    left = gpuplatform("sandbox", "cloud")
    gpuplatform("sandbox", "reset", "--yes")

    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert "--include-protected" not in destroyed.stderr
    assert "0 resources exist" in left.stdout
    assert not (project / ".gpuplatform" / "sandbox").exists()


PROTECTED_BY_THE_CLOUD = """
import pulumi


class Cluster(pulumi.CustomResource):
    def __init__(self, name, props):
        super().__init__("gcp:container/cluster:Cluster", name, props)


Cluster("cluster", {"location": "us-central1", "initialNodeCount": 1, "project": "example"})
"""


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_the_clouds_own_deletion_protection_is_lifted_only_when_it_is_asked_for(gpuplatform, project):
    (project / "stacks/__main__.py").write_text(PROTECTED_BY_THE_CLOUD)
    up = gpuplatform("sandbox", "up", "dev")
    refused = gpuplatform("sandbox", "destroy", "dev")
    lifted = gpuplatform("sandbox", "destroy", "dev", "--include-protected")

    assert up.returncode == 0, up.stdout + up.stderr
    assert refused.returncode != 0
    assert "deletion_protection is set to true" in refused.stdout
    assert "sandbox destroy dev --include-protected" in refused.stderr
    assert lifted.returncode == 0, lifted.stdout + lifted.stderr
    assert "0 resources exist" in gpuplatform("sandbox", "cloud").stdout


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_exec_hands_the_command_on_as_it_was_typed(gpuplatform, project):
    script = "import sys, os; print(sys.argv[1:], os.getcwd()); sys.exit(9)"

    done = gpuplatform("sandbox", "exec", "--", sys.executable, "-c", script, "--help", "-x", "--", "a b")

    assert done.stdout.strip() == f"['--help', '-x', '--', 'a b'] {project}"
    assert done.returncode == 9


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_the_packs_of_the_project_are_used_unless_others_are_named(gpuplatform, project):
    (project / "policies/tiny/__main__.py").write_text(
        "from pulumi_policy import *\n"
        "def no(args, report):\n    report('never')\n"
        "PolicyPack('no', [ResourceValidationPolicy('no', 'No.', no, EnforcementLevel.MANDATORY)])\n"
    )
    done = gpuplatform("sandbox", "preview", "dev")

    assert done.returncode != 0
    assert "never" in done.stdout


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("config: [", "this is no YAML"),
        ("config:\n  tiny:size: {secure: v1:x}\n", "tiny:size is encrypted"),
    ],
)
def test_a_wrong_configuration_file_ends_a_preview_with_its_place(gpuplatform, project, text, said):
    (project / "stacks/config/Pulumi.dev.yaml").write_text(text)

    done = gpuplatform("sandbox", "exec", "--", "pulumi", "preview", "--stack", "dev")

    assert done.returncode == 2
    assert said in done.stderr
    assert "Pulumi.dev.yaml" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("folder", [".", "stacks", "stacks/config"])
def test_the_commands_to_type_next_work_from_the_folder_where_they_are_read(project, monkeypatch, folder):
    monkeypatch.chdir(project / folder)
    result = Result(
        exit_code=0, counts={}, outputs={}, diagnostics=(), violations=(), types={}, duration_seconds=0
    )

    outcome = command._outcome("dev", result, [str(project / "policies/tiny")])

    named = [line.split("--policy-pack ")[1] for line, _ in outcome.next_steps if "--policy-pack" in line]
    assert len(named) == 2
    for pack in named:
        assert (project / folder / pack / "PulumiPolicy.yaml").is_file()
