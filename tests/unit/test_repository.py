"""What a stranger finds in the tree: workflows that are pinned, documents whose links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_commit_and_says_its_version(workflow: Path) -> None:
    uses = re.findall(r"uses: (\S+)(.*)", workflow.read_text())
    assert uses
    for action, comment in uses:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+(\.\d+)*", comment), action


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_starts_with_no_permissions_and_a_job_takes_what_it_needs(workflow: Path) -> None:
    content = yaml.safe_load(workflow.read_text())
    assert content["permissions"] == {}
    for job in content["jobs"].values():
        assert set(job["permissions"].values()) <= {"read"}
        assert job["timeout-minutes"] <= 90


def test_ci_calls_make_test() -> None:
    assert "make test" in (ROOT / ".ci/run").read_text()
    assert any(".ci/run" in path.read_text() for path in WORKFLOWS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_file_leads_to_one(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (document.parent / target).exists(), f"{document}: {target}"


def test_the_readme_opens_with_the_two_commands() -> None:
    opening = (ROOT / "README.md").read_text()[:900]
    assert opening.index("make up") < opening.index("make test")
