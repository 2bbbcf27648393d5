"""The profile of every machine type that the clouds' Kubernetes services take, as reviewed JSON."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from catalogue_pools import CAPACITIES, pool_of, supported
from syrupy.extensions.json import JSONSnapshotExtension

from gpuplatform.errors import Refusal
from gpuplatform.profile import node_profile


@pytest.fixture
def golden(snapshot):
    return snapshot.use_extension(JSONSnapshotExtension)


def reviewed(sku):
    """The profile of a pool that asks for nothing in particular, as the machine is sold; or why none."""
    refused = ""
    for capacity in CAPACITIES:
        try:
            profile = node_profile(pool_of(sku, capacity=capacity), sku)
        except Refusal as refusal:
            refused = refused or str(refusal)
        else:
            return {
                "driver owner": type(profile.driver).__name__,
                "fabric kind": type(profile.fabric).__name__,
            } | full(asdict(profile))
    return {"refused": refused}


def full(value):
    """Without what is empty: a reader looks for what a machine has."""
    if isinstance(value, dict):
        return {key: full(one) for key, one in value.items() if one not in (None, "", (), [], {})}
    if isinstance(value, list | tuple):
        return [full(one) for one in value]
    return value


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_the_profile_of_every_machine_type_is_the_one_reviewed(cloud, golden):
    profiles = {sku.name: reviewed(sku) for sku in supported() if sku.cloud == cloud}

    assert len(profiles) > 40
    assert profiles == golden


def test_only_these_supported_machine_types_have_no_profile_and_each_says_why():
    refused = {sku.name: reviewed(sku)["refused"] for sku in supported() if "refused" in reviewed(sku)}

    assert {name.partition("+")[0] for name in refused} == {
        "n1",
        "g4-standard-6",
        "g4-standard-12",
        "g4-standard-24",
    }
    assert all("\n" in why for why in refused.values())  # each with its rule and its way out
