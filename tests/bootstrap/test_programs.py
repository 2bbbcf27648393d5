"""What a bootstrap's program hands to the components, with no engine."""

from __future__ import annotations

import pytest
from samples import config_of, recording_of

from gpuplatform.bootstrap import gcp as program
from gpuplatform.permissions import gcp
from gpuplatform.plan.recorder import record


@pytest.mark.parametrize("stack", ["gcp-dev", "gcp-prod"])
def test_on_google_cloud_deploy_is_bound_on_its_condition_and_cannot_make_itself_the_owner(
    stack: str,
) -> None:
    config = config_of(stack)
    types = {resource.type for resource in recording_of(stack).resources if resource.custom}
    wanted = gcp.condition("deploy", types, gcp.scope_of(config))
    assert wanted
    assert "modifiedGrantsByRole" in wanted
    recording = record(lambda: program.build(config, types), stack=stack)
    assert recording.named("ci-deploy-project").inputs["condition"]["expression"] == wanted
    assert not recording.named("ci-preview-project").inputs.get("condition")
