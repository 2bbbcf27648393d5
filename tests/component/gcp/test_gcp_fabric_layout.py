"""Ranges of GPU networks: beside the cluster's, apart from one another, and where they were before."""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplatform.errors import Refusal
from gpuplatform.gcp.fabric_layout import gpu_subnets
from gpuplatform.profile.fabric import Roce, Tcpx, Tcpxo
from gpuplatform.profile.gcp import node_networks

CLUSTER = IPv4Network("10.0.0.0/16")
ROCE = Roce(adapters=8, network_profile="vpc-roce")
NAMES = st.lists(st.from_regex(r"[a-z][a-z0-9]{0,11}", fullmatch=True), unique=True, max_size=8)
PRIVATE = st.sampled_from(
    ["10.0.0.0/16", "172.16.0.0/14", "192.168.0.0/16", "172.20.0.0/16", "192.168.0.0/24"]
)


def roce(*names):
    return [node_networks(name, ROCE) for name in names]


def test_tcpx_and_tcpxo_pools_share_their_networks():
    high, mega = (node_networks(name, kind) for name, kind in _SHARED.items())
    found = gpu_subnets(CLUSTER, [high, mega, node_networks("more", Tcpxo(networks=8, mtu=8244))])

    assert list(found) == [f"gpu-{number}" for number in range(1, 9)]
    assert found["gpu-1"] == IPv4Network("192.168.0.0/20")


_SHARED = {"high": Tcpx(networks=4, mtu=8244), "mega": Tcpxo(networks=8, mtu=8244)}


@given(names=NAMES, cluster=PRIVATE)
def test_no_two_networks_overlap_nor_the_cluster(names, cluster):
    block = IPv4Network(cluster)
    mega = node_networks("mega", _SHARED["mega"])
    found = gpu_subnets(block, [mega, *roce(*names)])

    assert len(found) == 8 + 9 * len(names)
    assert not any(one.overlaps(other) for one, other in combinations(found.values(), 2))
    assert not any(one.overlaps(block) for one in found.values())
    assert not any(one.overlaps(IPv4Network("172.17.0.0/16")) for one in found.values())


@given(names=NAMES)
def test_one_more_pool_moves_no_other(names):
    before = gpu_subnets(CLUSTER, roce(*names))
    after = gpu_subnets(CLUSTER, roce(*names, "onemorepool1"))

    assert {key: after[key] for key in before} == before


def test_there_is_an_end_to_the_ranges():
    with pytest.raises(Refusal, match="more pools with RDMA networks"):
        gpu_subnets(CLUSTER, roce(*(f"pool{number}" for number in range(16))))
