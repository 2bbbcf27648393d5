"""EFA: the interfaces of each machine, and what its pods need."""

from __future__ import annotations

from dataclasses import replace

import pytest
from aws_pools import CATALOG, EFA_SKUS, NVIDIA_SKUS, pool, profile, refusal

from gpuplatform.errors import Refusal
from gpuplatform.profile import Efa, NoFabric, node_profile

# MaximumEfaInterfaces, apart from the catalogue's own: AWS's EFA documentation and the field cases.
ADAPTERS = {
    "p3dn.24xlarge": 1,
    "p4d.24xlarge": 4,
    "p4de.24xlarge": 4,
    "p5.4xlarge": 1,
    "p5.48xlarge": 32,
    "p5e.48xlarge": 32,
    "p5en.48xlarge": 16,
    "p6-b200.48xlarge": 8,
    "p6-b300.48xlarge": 16,
    "p6e-gb200.36xlarge": 4,
    "g6e.24xlarge": 2,
    "g6e.48xlarge": 4,
    "g7e.48xlarge": 4,
    "g6.48xlarge": 1,
    "g4dn.metal": 1,
}


def efa(sku: str, **changes) -> Efa:
    connects = profile(sku, **changes).fabric
    assert isinstance(connects, Efa)
    return connects


@pytest.mark.parametrize("sku", EFA_SKUS)
def test_net_1_a_device_index_is_0_or_1_and_never_counts_the_cards(sku):
    interfaces = efa(sku).interfaces
    assert {interface.device for interface in interfaces} <= {0, 1}
    places = [(interface.card, interface.device) for interface in interfaces]
    assert len(set(places)) == len(places)
    assert places[0] == (0, 0)


@pytest.mark.parametrize(
    ("sku", "cards"),
    [("p4d.24xlarge", 4), ("p5.48xlarge", 32), ("p5en.48xlarge", 16), ("p6-b200.48xlarge", 8)],
)
def test_net_1_every_card_is_used(sku, cards):
    assert {interface.card for interface in efa(sku).interfaces} == set(range(cards))


@pytest.mark.parametrize("sku", EFA_SKUS)
def test_net_2_there_are_as_many_adapters_as_the_machine_takes_beside_a_plain_primary_interface(sku):
    connects = efa(sku)
    primary, *others = connects.interfaces
    assert primary.type == "interface"
    assert {interface.type for interface in others} == {"efa-only"}
    assert len(others) == connects.adapters == CATALOG.sku("aws", sku).efa_interfaces


@pytest.mark.parametrize(("sku", "adapters"), ADAPTERS.items())
def test_net_2_the_number_is_maximum_efa_interfaces(sku, adapters):
    made = profile(sku)
    assert made.fabric.adapters == adapters
    assert made.advertised["vpc.amazonaws.com/efa"] == adapters
    assert made.pod.resources["vpc.amazonaws.com/efa"] == str(adapters)


def test_net_2_the_first_card_of_a_p6_b300_takes_ena_only():
    primary, *others = efa("p6-b300.48xlarge").interfaces
    assert (primary.card, primary.type) == (0, "interface")
    assert [(interface.card, interface.device) for interface in others] == [
        (card, 0) for card in range(1, 17)
    ]


def test_net_2_a_gb200_has_one_adapter_a_gpu_on_its_odd_cards():
    _, *others = efa("p6e-gb200.36xlarge").interfaces
    assert [(interface.card, interface.device) for interface in others] == [(1, 0), (5, 0), (9, 0), (13, 0)]


def test_net_2_a_machine_whose_number_is_unknown_is_refused_and_not_launched_without():
    unknown = replace(CATALOG.sku("aws", "p5.48xlarge"), efa_interfaces=None)
    with pytest.raises(Refusal, match="unknown") as caught:
        node_profile(pool("p5.48xlarge"), unknown)
    assert "MaximumEfaInterfaces" in caught.value.way_out
    assert isinstance(node_profile(pool("p5.48xlarge", fabric="none"), unknown).fabric, NoFabric)


@pytest.mark.parametrize("sku", sorted(set(NVIDIA_SKUS) - set(EFA_SKUS)))
def test_net_2_fabric_is_not_promised_on_a_machine_that_has_none(sku):
    refused = refusal(sku, fabric="required")
    assert sku in str(refused)
    assert refused.where == "node_pools.train.fabric"


def test_a_pool_that_asks_for_no_fabric_gets_no_trace_of_it():
    made = profile("p5.48xlarge", fabric="none")
    assert isinstance(made.fabric, NoFabric)
    assert made.device_plugins == ("gpu-operator",)
    assert "vpc.amazonaws.com/efa.present" not in made.labels
    assert set(made.pod.resources) == {"nvidia.com/gpu"}
    assert not made.pod.env
    assert made.bandwidth is None


@pytest.mark.parametrize("sku", EFA_SKUS)
def test_a_node_with_efa_is_labelled_and_its_plugin_named(sku):
    made = profile(sku)
    assert made.labels["vpc.amazonaws.com/efa.present"] == "true"
    assert "efa" in made.device_plugins


@pytest.mark.parametrize(
    "sku", ["p4d.24xlarge", "p5.48xlarge", "p6-b300.48xlarge", "g7e.24xlarge", "g7.8xlarge"]
)
def test_gpus_reach_the_adapter_directly_where_the_machine_can(sku):
    made = profile(sku)
    assert made.fabric.gpudirect
    assert made.pod.env["FI_EFA_USE_DEVICE_RDMA"] == "1"


@pytest.mark.parametrize("sku", ["p5.4xlarge", "g6e.48xlarge", "g5.48xlarge", "p3dn.24xlarge", "g7e.8xlarge"])
def test_where_it_cannot_nothing_asks_for_it(sku):
    made = profile(sku)
    assert not made.fabric.gpudirect
    assert "FI_EFA_USE_DEVICE_RDMA" not in made.pod.env
    assert made.pod.env["FI_PROVIDER"] == "efa"


def test_a_pod_on_efa_has_huge_pages_locked_memory_and_shared_memory():
    wiring = profile("p5.48xlarge").pod
    assert wiring.resources == {
        "nvidia.com/gpu": "8",
        "vpc.amazonaws.com/efa": "32",
        "hugepages-2Mi": "5120Mi",
    }
    assert wiring.capabilities == ("IPC_LOCK",)
    assert wiring.volumes == ({"name": "shm", "emptyDir": {"medium": "Memory"}},)
    assert wiring.mounts == ({"name": "shm", "mountPath": "/dev/shm"},)  # noqa: S108
    assert not wiring.host_network


def test_a_gb200_pod_claims_a_channel_of_its_nvlink_domain_that_exists():
    made = profile("p6e-gb200.36xlarge")
    assert made.fabric.nvlink_domain
    assert "dra" in made.device_plugins
    [claim] = made.pod.claims
    [domain] = made.pod.objects
    assert domain["kind"] == "ComputeDomain"
    template = domain["spec"]["channel"]["resourceClaimTemplate"]["name"]
    assert claim["resourceClaimTemplateName"] == template
    assert any("1.33" in sentence for sentence in made.preconditions)


@pytest.mark.parametrize("purpose", ["inference", "notebooks", "batch"])
def test_adapters_that_gpus_cannot_reach_are_for_training_or_on_request(purpose):
    assert isinstance(profile("g6.12xlarge", purpose=purpose).fabric, NoFabric)
    assert isinstance(profile("g6.12xlarge", purpose=purpose, fabric="required").fabric, Efa)
    assert isinstance(profile("g6.12xlarge").fabric, Efa)
    assert isinstance(profile("p5.48xlarge", purpose=purpose).fabric, Efa)


def test_efa_reaches_no_other_zone():
    refused = refusal("p5.48xlarge", zones=["use1-az4", "use1-az6"])
    assert "within one zone" in refused.rule
    assert profile("p5.48xlarge", purpose="inference", zones=["use1-az4", "use1-az6"]).pool == "train"


def test_the_floor_of_a_p5_is_a_peak():
    bandwidth = profile("p5.48xlarge").bandwidth
    assert (bandwidth.floor, bandwidth.metric) == (300, "peak")
    assert profile("p5en.48xlarge").bandwidth is None


@pytest.mark.parametrize(
    ("sku", "layers"),
    [("p5.48xlarge", 3), ("p6-b200.48xlarge", 4), ("g6e.xlarge", 3), ("p5.4xlarge", 0), ("g5.xlarge", 0)],
)
def test_kueue_gets_as_many_levels_as_ec2_tells(sku, layers):
    levels = profile(sku, purpose="inference").flavor.topology_levels
    switches = tuple(f"topology.k8s.aws/network-node-layer-{layer}" for layer in range(1, layers + 1))
    assert levels == (*switches, "kubernetes.io/hostname")


def test_an_ultraserver_is_a_level_of_its_own():
    assert "topology.k8s.aws/ultraserver-id" in profile("p6e-gb200.36xlarge").flavor.topology_levels
