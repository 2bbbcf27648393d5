"""A node with fewer GPUs than its machine has is named as such."""

from __future__ import annotations

import pytest

from gpuplatform.accept.shortage import shortages


def node(name="n1", ready="True", **allocatable):
    return {
        "metadata": {"name": name},
        "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": ready}]},
    }


@pytest.fixture
def short(profile):
    made = profile(advertised={"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 32})
    return lambda *nodes: [str(each) for each in shortages(made, nodes)]


def test_a_whole_node_is_not_short(short):
    assert short(node(**{"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"})) == []


def test_a_node_that_lost_a_gpu_is_named_with_what_it_has_and_should_have(short):
    assert short(node("ip-10-0-0-7", **{"nvidia.com/gpu": "7", "vpc.amazonaws.com/efa": "32"})) == [
        "node ip-10-0-0-7 has 7 nvidia.com/gpu, its machine has 8"
    ]


def test_a_fabric_that_never_came_up_is_a_shortage_too(short):
    assert short(node(**{"nvidia.com/gpu": "8"})) == [
        "node n1 has 0 vpc.amazonaws.com/efa, its machine has 32"
    ]


@pytest.mark.parametrize("quantity", ["", "many", "-1", None, "8Gi"])
def test_what_is_no_count_counts_as_nothing(short, quantity):
    assert len(short(node(**{"nvidia.com/gpu": quantity, "vpc.amazonaws.com/efa": "32"}))) == 1


def test_more_than_the_machine_has_is_no_shortage(short):
    assert short(node(**{"nvidia.com/gpu": "16", "vpc.amazonaws.com/efa": "32"})) == []


def test_a_node_that_is_not_ready_has_yet_to_advertise(short):
    assert short(node(ready="False")) == []
    assert short(node(ready="Unknown")) == []
    assert short({"metadata": {"name": "new"}}) == []


def test_every_short_node_is_named(short):
    names = [text.split()[1] for text in short(node("a"), node("b"))]
    assert names == ["a", "a", "b", "b"]
