"""What the sample stacks register, and what bootstrapping them does: no rule blocks any of it."""

from __future__ import annotations

from importlib import import_module

import pytest
from samples import STACKS, config_of, recording_of

from gpuplatform.plan.recorder import record


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


def _cloud(resource):
    """What a cloud would compute, as far as a bootstrap's resources refer to it."""
    host = "token.actions.githubusercontent.com"
    account = f"{resource.name}@example-ml-dev.iam.gserviceaccount.com"
    return {
        "arn": f"arn:aws:iam::123456789012:oidc-provider/{host}",
        "email": account,
        "emailAddress": account,
        "member": f"serviceAccount:{account}",
        "name": resource.inputs.get("name", "projects/123456789/locations/global/workloadIdentityPools/ci"),
        "number": "123456789",
        "selfLink": "https://www.googleapis.com/x",
        "url": "gs://x",
    }


# An update's values of Azure, resource IDs above all, are the sandbox's: test_engine_security.py.
@pytest.mark.parametrize(
    ("stack", "computed"),
    [(stack, None) for stack in STACKS]
    + [(stack, _cloud) for stack in STACKS if not stack.startswith("azure")],
)
def test_what_a_bootstrap_makes_breaks_no_rule(pack, stack, computed):
    pack.stack = stack
    program = import_module(f"gpuplatform.bootstrap.{stack.split('-')[0]}")
    types = {resource.type for resource in recording_of(stack).resources if resource.custom}
    config = config_of(stack)

    def build() -> None:
        program.build(config, types)

    recording = record(build, stack=stack, computed=computed)
    notes = [
        note
        for resource in recording.resources
        for note in pack.register(
            resource.type, resource.inputs, name=resource.name, protect=resource.protect
        )
    ]
    assert notes == []
    left = {note.urn.rpartition("::")[2] for note in pack.finish()}
    # Google's own service account is asked for, which nobody answers offline.
    assert computed is None or left <= {"state-key-grant"}
