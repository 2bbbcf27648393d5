"""What each sample stack registers, as reviewed JSON: a change here is a change to somebody's cluster."""

from __future__ import annotations

from typing import Any

import pytest
from samples import STACKS, decision_of, recording_of
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from gpuplatform.profile import operator_values


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(JSONSnapshotExtension)


@pytest.mark.parametrize("stack", STACKS)
def test_the_resources_of_a_sample_stack_are_those_reviewed(stack: str, golden: SnapshotAssertion) -> None:
    recording = recording_of(stack)
    assert {_short(resource.urn): _reviewed(resource) for resource in recording.resources} == golden
    assert len({resource.urn for resource in recording.resources}) == len(recording.resources)


@pytest.mark.parametrize("stack", STACKS)
def test_the_operator_s_values_of_a_sample_stack_are_those_reviewed(
    stack: str, golden: SnapshotAssertion
) -> None:
    assert operator_values(decision_of(stack).profiles) == golden


def _short(urn: str) -> str:
    return urn.split("::", 2)[2]


def _reviewed(resource: Any) -> dict[str, Any]:
    options = {
        "dependencies": sorted(_short(urn) for urn in resource.dependencies),
        "protect": resource.protect,
        "ignore_changes": list(resource.ignore_changes),
        "delete_before_replace": resource.delete_before_replace,
        "retain_on_delete": resource.retain_on_delete,
        "deleted_with": _short(resource.deleted_with) if resource.deleted_with else "",
        "provider": _short(resource.provider) if resource.provider else "",
        "aliases": list(resource.aliases),
    }
    return {"inputs": resource.inputs, **{key: value for key, value in options.items() if value}}
