"""Programs run as updates, answered as Azure would answer them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest
from azure_samples import aks_kubeconfig, build_environment, computed
from pulumi_azure_native import containerservice

from gpuplatform.plan.recorder import Recording, record


@pytest.fixture
def update(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], Recording]:
    """Runs a program as an update: every ID known, and AKS hands out its own kubeconfig when asked."""

    def credentials(**arguments: Any) -> SimpleNamespace:
        assert arguments["format"] == "exec"
        after = pulumi.Output.all(arguments["resource_group_name"], arguments["resource_name"])
        return SimpleNamespace(kubeconfigs=after.apply(lambda _: [SimpleNamespace(value=aks_kubeconfig())]))

    monkeypatch.setattr(containerservice, "list_managed_cluster_user_credentials_output", credentials)
    return lambda program: record(program, computed=computed)


@pytest.fixture
def environment(update: Callable[[Callable[[], Any]], Recording]) -> Recording:
    """A network, a cluster in it, a spot and an on-demand pool, as an update."""
    return update(build_environment)
