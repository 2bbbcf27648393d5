"""A bootstrap on the real engine, over each simulated cloud: built, again, changed, lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuplatform.bootstrap import record
from gpuplatform.bootstrap.adopt import id_of
from gpuplatform.errors import EngineError
from gpuplatform.trust import VARIABLES, variable

pytestmark = pytest.mark.engine

CLOUDS = ("aws", "azure", "gcp")


@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_bootstrap_builds_records_and_run_again_changes_nothing(
    cloud: str, stage: Any, project: Path
) -> None:
    before = {file: file.read_bytes() for file in project.rglob("*") if file.is_file()}
    with stage(f"{cloud}-dev") as it:
        seen = it.bootstrap(preview=True)
        assert it.things == []
        assert not it.place.record.exists()
        assert set(seen.changes) == {"create"}

        made = it.bootstrap()
        assert made.changes == seen.changes
        assert it.held == it.managed
        text = it.place.record.read_text(encoding="utf-8")
        assert record.secrets(json.loads(text)) == ()
        assert str(project.parent) not in text
        assert not it.place.folder.exists()

        again = it.bootstrap()
        assert set(again.changes) == {"same"}
        assert it.place.record.read_text(encoding="utf-8") == text
        assert (again.backend_url, again.variables) == (made.backend_url, made.variables)

        assert [one.name for one in made.variables] == [
            variable(f"{cloud}-dev", key) for key in VARIABLES[cloud]
        ]
        assert all(one.value for one in made.variables)
        assert made.secrets_provider.startswith(
            {"aws": "awskms://alias/", "azure": "azurekeyvault://", "gcp": "gcpkms://projects/"}[cloud]
        )
        assert made.backend_url.startswith({"aws": "s3://", "azure": "azblob://", "gcp": "gs://"}[cloud])
    assert {file: file.read_bytes() for file in before} == before, "no file of the user's changes"


@pytest.mark.parametrize("cloud", CLOUDS)
def test_without_its_record_nothing_is_taken_over_and_the_way_out_is_said(cloud: str, stage: Any) -> None:
    with stage(f"{cloud}-dev") as it:
        it.bootstrap()
        whole = it.place.record.read_bytes()
        before = it.held
        it.place.record.unlink()

        with pytest.raises(EngineError, match="there was no record of it here") as lost:
            it.bootstrap()
        assert "git log" in lost.value.way_out
        assert "--import FILE" in lost.value.way_out
        after = it.held
        assert set(after) >= set(before), "nothing that existed is changed or removed"
        for _, made in set(after) - set(before):
            assert made in lost.value.what, "what this run made is named"

        with pytest.raises(EngineError, match="there was no record of it here"):
            it.bootstrap()
        more = [urn for urn, _ in set(it.held) - set(before)]
        assert set(it.held) >= set(after)
        assert len(set(more)) == len(more), "a second try goes on from the first, and makes nothing twice"

        it.place.record.write_bytes(whole)
        assert set(it.bootstrap().changes) == {"same"}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_lost_record_is_made_again_from_what_somebody_names(cloud: str, stage: Any, tmp_path: Path) -> None:
    with stage(f"{cloud}-dev") as it:
        made = it.bootstrap()
        before, exists = it.held, record.resources(it.record)
        it.place.record.unlink()
        with pytest.raises(EngineError, match="there was no record of it here"):
            it.bootstrap()
        file = tmp_path / "found.json"
        file.write_text(json.dumps(as_file(exists)), encoding="utf-8")
        again = it.bootstrap(imports=file)
        assert again.variables == made.variables
        assert again.secrets_provider == made.secrets_provider
        assert it.managed == before, "the old things, and no others"
        assert set(it.held) >= set(before)
        for left in set(it.held) - set(before):
            assert any(left[1] in line for line in it.said), "what the refused run made is named"


def as_file(exists: list[dict[str, Any]]) -> dict[str, Any]:
    """What a person writes who looked each thing up in the cloud."""
    names: dict[str, str] = {}
    resources = []
    for one in exists:
        if not one["custom"] or one["type"].startswith("pulumi:"):
            continue
        parent, provider = one["parent"], one["provider"].rpartition("::")[0]
        names |= {f"parent {parent}": parent, f"provider {provider}": provider}
        resources.append(
            {
                "type": one["type"],
                "name": one["urn"].rpartition("::")[2],
                "id": one["id"],
                "parent": f"parent {parent}",
                "provider": f"provider {provider}",
            }
        )
    return {"nameTable": names, "resources": resources}


@pytest.mark.parametrize("cloud", ["aws", "gcp"])
def test_a_change_of_the_trust_changes_the_identities_and_leaves_the_state_s_store(
    cloud: str, stage: Any
) -> None:
    with stage(f"{cloud}-dev") as it:
        it.bootstrap()
        before = {thing.urn: thing for thing in it.things}
        it.configure(lambda platform: platform["identity"]["github"].update(environments=["dev", "spare"]))
        changed = it.bootstrap()
        assert changed.environments == ("dev", "spare")
        assert set(changed.changes) == {"update", "same"}
        after = {thing.urn: thing for thing in it.things}
        touched = {urn for urn in after if after[urn].inputs != before[urn].inputs}
        assert touched
        assert all("CiIdentity$" in urn for urn in touched)
        assert "environment:spare" in str([after[urn].inputs for urn in touched])


@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_ids_that_a_killed_run_s_things_are_asked_for_by_are_those_of_the_cloud(
    cloud: str, stage: Any
) -> None:
    with stage(f"{cloud}-dev") as it:
        it.bootstrap()
        found = record.resources(it.record)
    inputs = {resource["urn"]: resource.get("inputs") or {} for resource in found}
    custom = [one for one in found if one["custom"] and not one["type"].startswith("pulumi:")]
    asked = {
        one["urn"]: id_of(one, inputs[one["provider"].rpartition("::")[0]])
        for one in custom
        if "provider" in one
    }
    assert {one["urn"]: one["id"] for one in custom if asked[one["urn"]]} == {
        urn: known for urn, known in asked.items() if known
    }
    assert {one["type"] for one in custom if not asked[one["urn"]]} <= {"aws:kms/key:Key"}


def test_oidc_8_the_workflow_s_session_is_the_role_s_own(stage: Any) -> None:
    from gpuplatform.config import find_project, from_file
    from gpuplatform.trust import workflow

    with stage("aws-dev") as it:
        it.configure(lambda platform: platform["identity"]["github"].update(session_minutes=240))
        made = it.bootstrap()
        roles = {
            thing.outputs["arn"]: int(thing.inputs["maxSessionDuration"])
            for thing in it.things
            if thing.token == "aws:iam/role:Role"  # noqa: S105 - a type token
        }
        values = {one.name: one.value for one in made.variables}
        assert roles[values["AWS_DEV_DEPLOY_ROLE"]] == 240 * 60
        assert roles[values["AWS_DEV_PREVIEW_ROLE"]] == 3600
        config = from_file(find_project(it.sandbox.project.root), "aws-dev")
        text = workflow("aws-dev", config, engine_version="3.274.1")
        assert f"role-duration-seconds: {240 * 60}\n" in text
        assert "role-duration-seconds: 3600\n" in text


def test_the_deploying_identity_is_named_until_it_administers_the_cluster(stage: Any) -> None:
    with stage("aws-dev") as it:
        made = it.bootstrap()
        assert made.admin_missing
        assert made.viewer_missing
        assert made.viewer == {one.name: one.value for one in made.variables}["AWS_DEV_PREVIEW_ROLE"]
        it.configure(lambda platform: platform["cluster"]["admins"].append(made.admin))
        it.configure(lambda platform: platform["cluster"].update(viewers=[made.viewer]))
        again = it.bootstrap()
        assert (again.admin_missing, again.viewer_missing) == (False, False)


def test_outside_the_sandbox_the_program_finds_its_language_and_the_record_is_the_project_s(
    stage: Any, project: Path
) -> None:
    """As with an account, but that the providers are simulated ones: nothing else of the sandbox is there."""
    from samples import TODAY

    from gpuplatform.bootstrap import bootstrap
    from gpuplatform.config import find_project
    from gpuplatform.sandbox import environment

    with stage("gcp-dev") as it:
        left_out = {environment.ENGINE, "PULUMI_DEBUG_LANGUAGES", "GPUPLATFORM_HOME", "PULUMI_BACKEND_URL"}
        environ = {name: value for name, value in it.sandbox.environ.items() if name not in left_out}
        environ |= {"PULUMI_STACK": "another", "PULUMI_CONFIG_PASSPHRASE_FILE": "/nowhere"}
        said: list[str] = []
        made = bootstrap(find_project(project), "gcp-dev", TODAY, report=said.append, environ=environ)
        file = project / "stacks" / "bootstrap" / "gcp-dev.json"
        assert made.record.endswith("stacks/bootstrap/gcp-dev.json")
        assert "commit it: nothing else records what was built" in said[-1]
        known = record.read(file)
        assert known is not None
        assert it.held == sorted(
            (one["urn"], one["id"])
            for one in record.resources(known)
            if one["custom"] and not one["type"].startswith("pulumi:providers:")
        )
        assert list((project / ".gpuplatform" / "bootstrap").glob("*/")) == []
        again = bootstrap(find_project(project), "gcp-dev", TODAY, report=said.append, environ=environ)
        assert set(again.changes) == {"same"}


def test_the_command_works_inside_the_sandbox_with_nothing_changed_in_it(stage: Any) -> None:
    import sys

    with stage("gcp-dev") as it:
        file = it.sandbox.project.root / "out.json"
        command = f"{sys.executable} -m gpuplatform bootstrap gcp-dev --json > {file}"
        assert it.sandbox.run(["sh", "-c", command], it.sandbox.project.root) == 0
        said = json.loads(file.read_text(encoding="utf-8"))
        assert said["backend"]["url"].startswith("gs://vision-dev-state-")
        assert said["github"]["variables"]["GCP_DEV_BACKEND_URL"] == said["backend"]["url"]
        assert it.held == it.managed
