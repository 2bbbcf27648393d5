"""The ways out of two owners of the driver: each one that is told is followed, and works."""

from __future__ import annotations

import pytest

from gpuplatform import catalog
from gpuplatform.config import NodePool
from gpuplatform.errors import Refusal
from gpuplatform.profile import node_profile, operator_values

CATALOG = catalog.load()
ND, NC, NV = "Standard_ND96isr_H100_v5", "Standard_NC24ads_A100_v4", "Standard_NV36ads_A10_v5"
GB200 = next(
    s.name for s in CATALOG.skus() if s.cloud == "azure" and s.gpu_model == "GB200" and s.k8s_supported
)
L4, MEGA = "g2-standard-48", "a3-megagpu-8g"
LEFT_OUT = {"driver": None, "image": None}
TO_UBUNTU = {"driver": "operator", "image": "ubuntu"}
TO_AKS = {"driver": None, "fabric": "none"}

# Cloud, the pools as asked for, and each way out: its words, and what following it changes.
CASES = {
    "GKE on two images": (
        "gcp",
        {"train": {"sku": L4}, "serve": {"sku": L4, "image": "ubuntu"}},
        {
            "leave driver and image out on all pools": {"train": LEFT_OUT, "serve": LEFT_OUT},
            "image: ubuntu and driver: operator on all": {"train": TO_UBUNTU, "serve": TO_UBUNTU},
        },
    ),
    "GKE with the operator beside Google's driver": (
        "gcp",
        {"train": {"sku": L4, "driver": "operator"}, "serve": {"sku": L4, "image": "ubuntu"}},
        {
            "leave driver and image out on all pools": {"train": LEFT_OUT, "serve": LEFT_OUT},
            "image: ubuntu and driver: operator on all": {"train": TO_UBUNTU, "serve": TO_UBUNTU},
        },
    ),
    "GKE with a fabric, which Ubuntu has not": (
        "gcp",
        {
            "train": {
                "sku": MEGA,
                "capacity": {"kind": "spot"},
                "zones": ("us-east4-b",),
                "fabric": "required",
            },
            "serve": {"sku": L4, "image": "ubuntu"},
        },
        {"leave driver and image out on all pools": {"train": LEFT_OUT, "serve": LEFT_OUT}},
    ),
    "InfiniBand beside Azure Linux": (
        "azure",
        {"train": {"sku": ND}, "serve": {"sku": NC, "image": "azurelinux"}},
        {
            "driver: operator and image: ubuntu on serve": {"serve": TO_UBUNTU},
            "fabric: none on train": {"train": TO_AKS},
        },
    ),
    "InfiniBand beside a GRID driver": (
        "azure",
        {"train": {"sku": ND}, "serve": {"sku": NV}},
        {"fabric: none on train": {"train": TO_AKS}},
    ),
    "InfiniBand beside AKS's driver": (
        "azure",
        {"train": {"sku": ND, "driver": "operator"}, "serve": {"sku": NC}},
        {
            "driver: operator on serve": {"serve": {"driver": "operator"}},
            "fabric: none on train": {"train": TO_AKS},
        },
    ),
    "the operator by choice beside a GRID driver": (
        "azure",
        {"train": {"sku": NC, "driver": "operator"}, "serve": {"sku": NV}},
        {"leave driver out on train": {"train": {"driver": None}}},
    ),
    "Grace Blackwell beside AKS's driver": (
        "azure",
        {"train": {"sku": GB200}, "serve": {"sku": NC}},
        {"driver: operator on serve": {"serve": {"driver": "operator"}}},
    ),
    "Grace Blackwell beside a GRID driver": ("azure", {"train": {"sku": GB200}, "serve": {"sku": NV}}, {}),
}


def values(cloud, pools):
    made = [
        NodePool.model_validate(
            {
                "name": name,
                "purpose": "inference",
                "nodes": {"max": 4},
                **{key: value for key, value in asked.items() if value is not None},
            }
        )
        for name, asked in pools.items()
    ]
    return operator_values([node_profile(pool, CATALOG.sku(cloud, pool.sku)) for pool in made])


@pytest.mark.parametrize("case", CASES)
def test_drv_1_every_way_out_of_two_owners_that_is_told_works(case):
    cloud, pools, ways = CASES[case]
    with pytest.raises(Refusal) as refused:
        values(cloud, pools)
    told = refused.value.way_out.split(", or ")
    assert told[-1] == "use two clusters"
    assert len(told) == len(ways) + 1, told
    for words, changes in ways.items():
        assert any(words in each for each in told), (words, told)
        assert values(cloud, {name: {**asked, **changes.get(name, {})} for name, asked in pools.items()})
