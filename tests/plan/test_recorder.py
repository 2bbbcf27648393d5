"""The recorder sees what the engine would be asked for, and answers as a preview does."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi
import pytest

from gpuplatform.component import Component
from gpuplatform.plan.recorder import UNKNOWN, record


class Thing(pulumi.CustomResource):
    arn: pulumi.Output[str]

    def __init__(self, name: str, props: dict[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aws:x/thing:Thing", name, {**props, "arn": None}, opts)


class Box(Component):
    TOKEN = "gpuplatform:index:Box"  # noqa: S105 - a type token

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        first = Thing(
            f"{name}-first", {"size": 3, "ratio": 0.5, "on": True, "list": [1, "a"]}, self.child(protect=True)
        )
        Thing(
            f"{name}-second",
            {"first": first.arn, "secret": pulumi.Output.secret("s3cr3t"), "nothing": None},
            self.child(depends_on=[first], ignore_changes=["size"], deleted_with=first),
        )
        self.arn = first.arn
        self.finish(arn=self.arn)


def test_inputs_are_plain_data_and_what_a_cloud_computes_is_unknown() -> None:
    recording = record(lambda: Box("box"))
    first, second = recording.named("box-first"), recording.named("box-second")
    assert first.inputs == {"size": 3, "ratio": 0.5, "on": True, "list": [1, "a"]}
    assert second.inputs == {"first": UNKNOWN, "secret": "s3cr3t"}
    assert second.secrets == {"secret"}
    assert recording.outputs[recording.named("box").urn] == {"arn": UNKNOWN}


def test_options_reach_the_recording() -> None:
    recording = record(lambda: Box("box"))
    box, first, second = (recording.named(name) for name in ("box", "box-first", "box-second"))
    assert not box.custom
    assert first.parent == second.parent == box.urn
    assert first.protect
    assert not second.protect
    assert second.dependencies == (first.urn,)
    assert second.ignore_changes == ("size",)
    assert second.deleted_with == first.urn
    assert first.urn == "urn:pulumi:test::gpuplatform::gpuplatform:index:Box$aws:x/thing:Thing::box-first"


def test_with_computed_values_the_program_sees_them() -> None:
    recording = record(lambda: Box("box"), computed=lambda resource: {"arn": f"arn:{resource.name}"})
    assert recording.named("box-second").inputs["first"] == "arn:box-first"


def test_a_stack_s_outputs_are_recorded() -> None:
    recording = record(lambda: pulumi.export("region", "us-east-1"))
    assert recording.stack_outputs == {"region": "us-east-1"}


def test_a_second_recording_starts_empty() -> None:
    assert len(record(lambda: Box("box")).resources) == 3
    assert len(record(lambda: Box("box")).resources) == 3


def test_two_resources_of_one_name_are_refused() -> None:
    with pytest.raises(RuntimeError, match="two resources have the URN"):
        record(lambda: (Box("box"), Box("box")))


def test_what_only_a_cloud_could_answer_is_unknown() -> None:
    def program() -> None:
        answer = pulumi.runtime.invoke_output("aws:index/getRegion:getRegion", {})
        pulumi.export("region", answer.apply(lambda known: known["name"]))

    assert record(program).stack_outputs == {"region": UNKNOWN}


def test_the_program_s_own_error_comes_through_and_leaves_nothing_running() -> None:
    with pytest.raises(ZeroDivisionError):
        record(lambda: (Box("box"), 1 / 0))
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()


def test_an_error_inside_an_apply_comes_through() -> None:
    def program() -> None:
        known = pulumi.Output.from_input("x")
        Thing("thing", {"value": known.apply(lambda _: 1 / 0)})

    with pytest.raises(ZeroDivisionError):
        record(program)


def test_a_resource_that_exists_by_name_only_once_is_found_and_others_are_not() -> None:
    recording = record(lambda: Box("box"))
    with pytest.raises(KeyError, match="0 resources are named"):
        recording.named("nothing")
