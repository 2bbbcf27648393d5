"""Any program's resources may hold anything: nothing of it may raise, and nothing unknown may pass."""

from __future__ import annotations

import copy
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuplatform import catalog
from gpuplatform.guardrails import Limits, RawResource, Status, footprint_of_resources, judge
from gpuplatform.guardrails.from_resources import _KEYS, _READERS

MARK = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
DAY = date(2026, 11, 30)
NAMES = sorted(
    {
        *(
            "instanceTypes",
            "instanceType",
            "scalingConfig",
            "minSize",
            "maxSize",
            "taints",
            "labels",
            "amiType",
        ),
        *(
            "launchTemplate",
            "mixedInstancesPolicy",
            "overrides",
            "subnetIds",
            "version",
            "upgradePolicy",
            "id",
        ),
        *(
            "vmSize",
            "count",
            "minCount",
            "maxCount",
            "enableAutoScaling",
            "agentPoolProfiles",
            "nodeTaints",
            "sku",
        ),
        *(
            "hardwareProfile",
            "virtualMachinesProfile",
            "scale",
            "manual",
            "location",
            "zones",
            "nodeLabels",
            "mode",
        ),
        *(
            "nodeConfig",
            "machineType",
            "guestAccelerators",
            "autoscaling",
            "maxNodeCount",
            "nodePools",
            "name",
        ),
        *(
            "nodeLocations",
            "versions",
            "instanceTemplate",
            "targetSize",
            "cluster",
            "kubernetesVersion",
            "zone",
        ),
    }
)
SCALARS = st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.just(MARK)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(_READERS | _KEYS)), st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8))
def test_no_shape_of_properties_raises(type_, props):
    resource = RawResource(type=type_, name="r", urn="urn:r", props=props, provider_region="us-east-1")
    limits = Limits(regions=("us-east-1",), monthly_usd=Decimal(100), gpu_models=("H100",))
    for verdict in judge(footprint_of_resources([resource]), limits, catalog.load(), DAY):
        assert verdict.sentence


FORBIDDEN = {
    "aws:eks/nodeGroup:NodeGroup": {
        "instanceTypes": ["p3.2xlarge"],
        "amiType": "AL2023_x86_64_NVIDIA",
        "capacityType": "ON_DEMAND",
        "scalingConfig": {"minSize": 0, "maxSize": 4},
        "labels": {"nvidia.com/gpu.present": "true"},
        "taints": [{"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"}],
        "region": "us-east-1",
    },
    "azure-native:containerservice:AgentPool": {
        "vmSize": "Standard_NC6s_v3",
        "enableAutoScaling": True,
        "minCount": 0,
        "maxCount": 4,
        "availabilityZones": ["1"],
        "gpuProfile": {"driver": "Install"},
        "nodeLabels": {"nvidia.com/gpu.present": "true"},
        "nodeTaints": ["nvidia.com/gpu=true:NoSchedule"],
        "scaleSetPriority": "Regular",
    },
    "gcp:container/nodePool:NodePool": {
        "location": "us-central1-a",
        "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4},
        "nodeConfig": {
            "machineType": "a2-highgpu-1g",
            "spot": False,
            "guestAccelerators": [{"type": "nvidia-tesla-a100", "count": 1}],
            "labels": {"nvidia.com/gpu.present": "true"},
            "taints": [{"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"}],
        },
    },
}


def _paths(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _paths(one, (*path, key))


def _with(props, path, value):
    changed = copy.deepcopy(props)
    here = changed
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = value
    return changed


CASES = [(type_, path) for type_, props in FORBIDDEN.items() for path in _paths(props) if path]
LIMITS = Limits(regions=("nowhere",), gpu_models=("B200",), monthly_usd=Decimal(1))


@pytest.mark.parametrize(("type_", "path"), CASES, ids=[f"{t.split(':')[0]}-{p}" for t, p in CASES])
def test_pol_1_whichever_value_is_unknown_the_rest_is_still_judged(type_, path):
    """With one value unknown, each rule that failed before fails still or says that it is not evaluated."""

    def statuses(props):
        resource = RawResource(type=type_, name="r", urn="urn:r", props=props, provider_region="us-east-1")
        worst: dict[str, Status] = {}
        for verdict in judge(footprint_of_resources([resource]), LIMITS, catalog.load(), DAY):
            if worst.get(verdict.rule) is not Status.FAIL:
                worst[verdict.rule] = verdict.status
        return worst

    before, after = statuses(FORBIDDEN[type_]), statuses(_with(FORBIDDEN[type_], path, MARK))
    failed = {rule for rule, status in before.items() if status is Status.FAIL}
    assert failed
    machine_known = after["machine"] is not Status.NOT_EVALUATED
    for rule in failed:
        if machine_known or rule in {"budget", "region"}:
            assert after[rule] in {Status.FAIL, Status.NOT_EVALUATED}
    assert Status.NOT_EVALUATED in after.values() or failed <= {
        r for r, s in after.items() if s is Status.FAIL
    }
