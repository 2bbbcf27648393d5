"""What the sample stacks register in a preview: no rule blocks any of it."""

from __future__ import annotations

import pytest
from samples import STACKS, recording_of


@pytest.mark.parametrize("stack", STACKS)
def test_a_preview_of_a_sample_stack_breaks_no_rule(pack, stack):
    pack.stack = stack
    recording = recording_of(stack)
    blocked = [
        note
        for resource in recording.resources
        for note in pack.register(
            resource.type, resource.inputs, name=resource.name, protect=resource.protect
        )
    ]
    assert blocked == []
    assert {note.rule for note in pack.finish()} <= {"oidc-issuer", "oidc-subject", "public-access"}, (
        "what only an update tells: an issuer, a role's trust, a member"
    )
