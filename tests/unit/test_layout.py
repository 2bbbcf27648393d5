from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplatform.cidr import carve, prefix_for
from gpuplatform.config.layout import (
    AWS_ADDRESSES_PER_NODE,
    AzureLayout,
    TooSmall,
    aws_layout,
    azure_layout,
    azure_lustre_prefix,
    gcp_layout,
)

_CIDRS = st.integers(min_value=8, max_value=28).map(lambda length: IPv4Network((10 << 24, length)))
_NODES = st.integers(min_value=1, max_value=3000)


@pytest.mark.parametrize(
    ("addresses", "prefix"), [(1, 32), (2, 31), (3, 30), (256, 24), (257, 23), (2**32, 0)]
)
def test_the_smallest_block_for_a_number_of_addresses(addresses: int, prefix: int) -> None:
    assert prefix_for(addresses) == prefix


@pytest.mark.parametrize("addresses", [0, 2**32 + 1])
def test_no_block_holds_nothing_or_too_much(addresses: int) -> None:
    with pytest.raises(ValueError, match="no IPv4 block"):
        prefix_for(addresses)


@given(network=_CIDRS, prefixes=st.lists(st.integers(min_value=8, max_value=32), max_size=8))
def test_carved_blocks_lie_inside_and_apart_and_fail_only_for_want_of_room(
    network: IPv4Network, prefixes: list[int]
) -> None:
    blocks = carve(network, prefixes)
    wanted = sum(2 ** (32 - prefix) for prefix in prefixes)
    if blocks is None:
        assert wanted > network.num_addresses or min(prefixes) < network.prefixlen
        return
    assert [block.prefixlen for block in blocks] == prefixes
    assert all(block.subnet_of(network) for block in blocks)
    assert not any(one.overlaps(two) for i, one in enumerate(blocks) for two in blocks[i + 1 :])


@given(cidr=_CIDRS, zones=st.integers(min_value=1, max_value=6), nodes=_NODES)
def test_aws_gives_each_zone_room_for_all_the_nodes(cidr: IPv4Network, zones: int, nodes: int) -> None:
    names = [f"z{index}" for index in range(zones)]
    layout = aws_layout(cidr, names, nodes)
    if isinstance(layout, TooSmall):
        assert layout.holds < nodes
        return
    blocks = [*layout.private.values(), *layout.public.values()]
    assert list(layout.private) == list(layout.public) == names
    assert all(block.subnet_of(cidr) and block.prefixlen <= 28 for block in blocks)
    assert not any(one.overlaps(two) for i, one in enumerate(blocks) for two in blocks[i + 1 :])
    assert all(block.num_addresses - 5 >= nodes * AWS_ADDRESSES_PER_NODE for block in layout.private.values())


@given(cidr=_CIDRS, nodes=_NODES)
def test_azure_and_gcp_have_room_for_all_the_nodes(cidr: IPv4Network, nodes: int) -> None:
    azure = azure_layout(cidr, nodes)
    if isinstance(azure, TooSmall):
        assert azure.holds < nodes
    else:
        assert azure.nodes.subnet_of(cidr)
        assert azure.nodes.num_addresses - 5 >= nodes
    gcp = gcp_layout(cidr, nodes)
    if isinstance(gcp, TooSmall):
        assert gcp.holds < nodes
    else:
        blocks = [gcp.nodes, gcp.pods, gcp.services, gcp.control_plane]
        assert all(block.subnet_of(cidr) for block in blocks)
        assert not any(one.overlaps(two) for i, one in enumerate(blocks) for two in blocks[i + 1 :])
        assert gcp.pods.num_addresses // 256 >= nodes


@given(cidr=_CIDRS, nodes=_NODES)
def test_the_prefix_that_would_do_does(cidr: IPv4Network, nodes: int) -> None:
    for layout in (
        lambda c: aws_layout(c, ["a", "b"], nodes),
        lambda c: azure_layout(c, nodes),
        lambda c: gcp_layout(c, nodes),
    ):
        result = layout(cidr)
        if isinstance(result, TooSmall) and result.prefix_needed is not None:
            better = IPv4Network((10 << 24, result.prefix_needed))
            assert not isinstance(layout(better), TooSmall)
            assert str(result.prefix_needed) in str(result)


_SIZES = st.lists(st.integers(min_value=4, max_value=800).map(lambda tib: tib * 1024), max_size=4)


@given(cidr=_CIDRS, nodes=_NODES, sizes=_SIZES, endpoints=st.booleans())
def test_azure_s_file_systems_and_endpoints_lie_beside_the_nodes_and_apart(
    cidr: IPv4Network, nodes: int, sizes: list[int], endpoints: bool
) -> None:
    lustre = {f"tier{index}": gib for index, gib in enumerate(sizes)}
    layout = azure_layout(cidr, nodes, lustre, endpoints=endpoints)
    if isinstance(layout, TooSmall):
        if layout.prefix_needed is not None:
            better = IPv4Network((10 << 24, layout.prefix_needed))
            assert not isinstance(azure_layout(better, nodes, lustre, endpoints=endpoints), TooSmall)
            assert layout.prefix_needed < cidr.prefixlen
        return
    blocks = [layout.nodes, *layout.lustre.values(), *([layout.endpoints] if layout.endpoints else [])]
    assert list(layout.lustre) == list(lustre)
    assert (layout.endpoints is not None) == endpoints
    assert all(block.subnet_of(cidr) for block in blocks)
    assert not any(one.overlaps(two) for i, one in enumerate(blocks) for two in blocks[i + 1 :])
    assert layout.nodes == _azure(cidr, nodes).nodes


@given(first=st.integers(min_value=4, max_value=800), second=st.integers(min_value=4, max_value=800))
def test_a_new_file_system_moves_none_that_is_there_nor_the_endpoints(first: int, second: int) -> None:
    cidr = IPv4Network("10.0.0.0/16")
    before = _azure(cidr, 20, {"one": first * 1024}, endpoints=True)
    after = _azure(cidr, 20, {"one": first * 1024, "two": second * 1024}, endpoints=True)
    assert after.lustre["one"] == before.lustre["one"]
    assert (after.endpoints, after.nodes) == (before.endpoints, before.nodes)


@pytest.mark.parametrize(
    ("tib", "prefix"), [(4, 24), (196, 24), (200, 23), (400, 23), (404, 22), (800, 22), (1600, 21)]
)
def test_a_lustre_file_system_has_the_subnet_of_its_size(tib: int, prefix: int) -> None:
    assert azure_lustre_prefix(tib * 1024) == prefix


def _azure(
    cidr: IPv4Network, nodes: int, lustre: dict[str, int] | None = None, *, endpoints: bool = False
) -> AzureLayout:
    layout = azure_layout(cidr, nodes, lustre, endpoints=endpoints)
    assert isinstance(layout, AzureLayout)
    return layout
