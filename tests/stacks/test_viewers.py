"""Who looks at a cluster comes and goes beside all else, on the real engine."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.engine

VIEWERS = {
    "aws": "arn:aws:iam::123456789012:role/gpuplatform-ci/vision-dev-preview",
    "azure": "00000000-0000-4000-8000-0000000000bb",
    "gcp": "serviceAccount:vision-dev-preview@example-ml-dev.iam.gserviceaccount.com",
}


@pytest.mark.parametrize("cloud", VIEWERS)
def test_a_viewer_is_added_and_taken_away_with_nothing_else_changed(cloud: str, stage: Any) -> None:
    with stage(f"{cloud}-dev") as stack:
        assert stack.apply().exit_code == 0
        before = set(stack.managed)
        stack.configure(lambda platform: platform["cluster"].update(viewers=[VIEWERS[cloud]]))
        assert stack.apply().exit_code == 0
        new = set(stack.managed) - before
        assert new
        assert set(stack.managed) >= before
        assert all("cluster-viewer" in urn.rpartition("::")[2] for urn, _ in new)
        assert stack.held == stack.managed
        stack.configure(lambda platform: platform["cluster"].pop("viewers"))
        assert stack.apply().exit_code == 0
        assert set(stack.managed) == before
        assert stack.held == stack.managed
