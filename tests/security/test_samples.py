"""What the sample stacks register, a preview's unknowns and an update's values: no rule blocks any of it."""

from __future__ import annotations

import pytest
from samples import STACKS, decision_of, recording_of

from gpuplatform.plan.recorder import record
from gpuplatform.platform.build import build


def _arn(resource):
    """What a cloud would compute, as far as other resources refer to it."""
    place = resource.urn.rpartition("::")[2]
    return {
        "arn": f"arn:aws:iam::123456789012:oidc-provider/{place}",
        "url": "oidc.eks.us-east-1.amazonaws.com/id/EXAMPLE",
        "identities": [{"oidcs": [{"issuer": "https://oidc.eks.us-east-1.amazonaws.com/id/EXAMPLE"}]}],
    }


@pytest.mark.parametrize("stack", STACKS)
def test_a_preview_of_a_sample_stack_breaks_no_rule(pack, stack):
    pack.stack = stack
    blocked = [
        note
        for resource in recording_of(stack).resources
        for note in pack.register(
            resource.type, resource.inputs, name=resource.name, protect=resource.protect
        )
    ]
    assert blocked == []


@pytest.mark.parametrize("stack", STACKS)
def test_an_update_of_a_sample_stack_breaks_no_rule(pack, stack):
    pack.stack = stack
    pack.start(dry_run=False)
    decision = decision_of(stack)
    resources = record(lambda: build(decision), stack=stack, computed=_arn).resources
    blocked = [
        note
        for resource in resources
        for note in pack.register(
            resource.type, resource.inputs, name=resource.name, protect=resource.protect
        )
    ]
    assert blocked == []
