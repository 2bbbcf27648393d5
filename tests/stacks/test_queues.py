"""Workload classes and queued capacity on the real engine: what Kueue is told, and in which order it goes."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.engine

KUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:"


def _queues(config: dict[str, Any]) -> None:
    config["node_pools"].append(
        {
            "name": "burst",
            "sku": config["node_pools"][0]["sku"],
            "purpose": "training",
            "nodes": {"min": 0, "max": 2},
            "capacity": {"kind": "queued"},
            "zones": config["node_pools"][0].get("zones"),
        }
    )
    config["workload_classes"] = [{"name": "training", "pools": ["train", "burst"]}]
    config["budget"]["monthly_usd"] = 2_000_000


def test_a_class_with_a_queued_pool_goes_up_stays_and_goes_down(stage: Any) -> None:
    with stage("gcp-prod") as it:
        it.configure(_queues)
        made = it.apply()
        assert made.exit_code == 0, made.diagnostics
        assert it.held == it.managed
        kinds = {thing.token.removeprefix(KUEUE) for thing in it.things if thing.token.startswith(KUEUE)}
        assert {
            "AdmissionCheck",
            "ClusterQueue",
            "Cohort",
            "ProvisioningRequestConfig",
            "ResourceFlavor",
        } <= kinds

        again = it.apply()
        assert (again.exit_code, again.changes) == (0, 0)

        gone = it.destroy(include_protected=True)
        assert gone.exit_code == 0, gone.diagnostics
        assert it.things == []
