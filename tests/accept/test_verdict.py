"""Pass, fail, not measured."""

from __future__ import annotations

import pytest

from gpuplatform.accept import Outcome, judge, not_measurable, parse
from gpuplatform.profile import (
    Bandwidth,
    CapacityPlan,
    InfiniBand,
    NoFabric,
    NvlinkDomain,
    Roce,
    SharedGpu,
    Tcpx,
    Tcpxo,
)

ROCE = Roce(adapters=8, network_profile="vpc-roce")
NETWORK = "h:1:2 [0] NCCL INFO Using network {}\n"


def made(
    *,
    network: str | None = "Libfabric",
    collective: str = "all_reduce",
    sizes: tuple[int, int] = (1024, 8 << 30),
    hosts: int = 2,
    gpus: int = 8,
    busbw: float = 350.0,
    wrong: str = "0",
    average: float | None = 90.0,
    model: str = "NVIDIA H100 80GB HBM3",
    speaking: int | None = None,
    without: tuple[int, ...] = (),
) -> str:
    """A log of one test, as it would be with these results: the last size is the fastest one."""
    ranks = [(f"node-{rank // gpus}", 100 + rank) for rank in range(hosts * gpus)]
    speakers = ranks[:speaking] or [("node-0", 100)]
    names = "".join(
        f"{host}:{process}:9 [0] NCCL INFO Using network {network}\n" for host, process in speakers
    )
    used = "".join(
        f"#  Rank {rank:2} Group  0 Pid  {process} on {host} device  0 [0x53] {model}\n"
        for rank, (host, process) in enumerate(ranks)
    )
    summary = (
        ""
        if average is None
        else f"# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {average:g} \n#\n"
    )
    asked = [sizes[0] << shift for shift in range(64) if sizes[0] << shift <= sizes[1]]
    halves = dict.fromkeys(asked, "135.8  0.41  0.77  0")
    halves[asked[-1]] = f"47535  180.71  {busbw:.2f}  {wrong}"
    return (
        (names if network else "")
        + f"gpuplatform-accept: run {collective}\n"
        + f"# nThread 1 nGpus 1 minBytes {sizes[0]} maxBytes {sizes[1]} step: 2(factor)\n"
        + used
        + "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
        + "".join(
            f"  {size}  {size // 4}  float  sum  -1  {half}  {half}\n"
            for size, half in halves.items()
            if size not in without
        )
        + summary
    )


def test_enough_bandwidth_over_the_fabric_passes(profile):
    verdict = judge(profile(), parse(made()))
    assert verdict.outcome is Outcome.PASS
    assert (verdict.measured, verdict.floor, verdict.metric) == (350.0, 300, "peak")
    assert verdict.transports == ("Libfabric",)


def test_too_little_fails_with_the_number_and_the_floor(profile):
    verdict = judge(profile(), parse(made(busbw=120.5)))
    assert verdict.outcome is Outcome.FAIL
    assert verdict.measured == 120.5
    assert "120.5 GB/s" in verdict.reason
    assert "floor 300" in verdict.reason


@pytest.mark.parametrize(
    ("fabric", "network"),
    [
        (InfiniBand(resource="rdma/ib", adapters=8), "IB"),
        (InfiniBand(resource="rdma/ib", adapters=8), "IBext_v11"),
        (Tcpx(networks=4, mtu=8244), "GPUDirectTCPX_v7"),
        (Tcpxo(networks=8, mtu=8244), "FasTrak"),
        (ROCE, "gIB"),
        (NvlinkDomain(roce=ROCE, topology="1x72"), "gIB"),
    ],
)
def test_every_fabric_passes_on_its_own_transport_and_fails_on_sockets(profile, fabric, network):
    own = judge(profile(fabric=fabric), parse(made(network=network)))
    assert own.outcome is Outcome.PASS
    for tcp in ("Socket", "FastSocket"):
        verdict = judge(profile(fabric=fabric), parse(made(network=tcp)))
        assert verdict.outcome is Outcome.FAIL
        assert "socket transport" in verdict.reason
        assert type(fabric).__name__ in verdict.reason


def test_sockets_on_one_rank_of_many_fail(profile):
    text = NETWORK.format("Socket") + made()
    assert judge(profile(), parse(text)).outcome is Outcome.FAIL


def test_sockets_fail_even_where_the_bandwidth_would_do_or_the_log_is_cut(profile, log):
    assert judge(profile(), parse(made(network="Socket", busbw=999))).outcome is Outcome.FAIL
    assert judge(profile(), log("socket")).outcome is Outcome.FAIL


def test_libfabric_over_tcp_fails(profile):
    text = "h:1:2 [0] NCCL INFO NET/OFI Selected provider is tcp;ofi_rxm (found 1 nics)\n" + made()
    assert judge(profile(), parse(text)).outcome is Outcome.FAIL


def test_another_fabric_s_transport_fails(profile):
    verdict = judge(profile(fabric=ROCE), parse(made(network="IB")))
    assert verdict.outcome is Outcome.FAIL
    assert "IB" in verdict.reason


def test_sockets_are_right_where_the_pool_asked_for_tcp(profile):
    plain = profile(fabric=NoFabric(reason="asked for none"))
    assert judge(plain, parse(made(network="Socket"))).outcome is Outcome.PASS


def test_wrong_results_fail_however_fast(profile):
    verdict = judge(profile(), parse(made(wrong="7")))
    assert verdict.outcome is Outcome.FAIL
    assert "14 elements" in verdict.reason


@pytest.mark.parametrize(
    ("log_text", "says"),
    [
        ("", "no results"),
        ("gpuplatform-accept: the image has no mpirun\n", "the image has no mpirun"),
        ("gpuplatform-accept: node 1 did not answer for 900 seconds\n", "node 1 did not answer"),
        ("h: Test NCCL failure common.cu:1005 'unhandled system error'\n", "Test NCCL failure"),
        (made(average=None), "ends before the test does; until then the peak was 350 GB/s"),
        (made(hosts=1), "of one node, node-0"),
        (made(hosts=0), "does not say which nodes"),
        (made(gpus=7), "14 GPUs took part, and 2 nodes of some-machine have 16"),
        (made(wrong="N/A"), "did not check its results"),
        (made(network=None), "does not say which transport"),
        (made(collective="all_gather"), "the log has all_gather, the floor is of all_reduce"),
        (made(model="NVIDIA A100-SXM4-80GB"), "of NVIDIA A100-SXM4-80GB, and some-machine has H100"),
        (made(model="NVIDIA GH200 480GB"), "and some-machine has H100"),
        (made(speaking=3), "13 of 16 ranks do not say which transport they use"),
        (made() + "h: Test NCCL failure common.cu:1005 'unhandled system error'\n", "Test NCCL failure"),
        (made() + "h:1:2 [0] misc: unhandled system error\n", "unhandled system error"),
        (made(busbw=120, without=(8 << 30,)), "the row of 8G cannot be read; the best of the others is 0.77"),
        (made(busbw=120, without=(4 << 30,)), "the row of 4G cannot be read"),
        (made(busbw=120, without=(4 << 30, 8 << 30)), "2 rows, the last ones those of 4G, 8G cannot be read"),
        (made(busbw=120).replace(" step: 2(factor)", ""), "does not say which sizes were run"),
    ],
)
def test_what_is_not_known_is_not_measured_and_the_reason_is_told(profile, log_text, says):
    verdict = judge(profile(), parse(log_text))
    assert verdict.outcome is Outcome.NOT_MEASURED
    assert verdict.measured is None
    assert says in verdict.reason


def test_no_published_floor_is_not_measured_and_tells_the_numbers(profile):
    verdict = judge(profile(bandwidth=None), parse(made()))
    assert verdict.outcome is Outcome.NOT_MEASURED
    assert "average 90 GB/s, peak 350 GB/s" in verdict.reason


def test_an_average_is_judged_by_the_average_and_a_peak_by_the_peak(profile):
    floors = {
        metric: profile(bandwidth=Bandwidth(floor=100, metric=metric, source="s"))
        for metric in ("average", "peak")
    }
    text = made(average=90, busbw=350)
    assert judge(floors["average"], parse(text)).outcome is Outcome.FAIL
    assert judge(floors["peak"], parse(text)).outcome is Outcome.PASS


def test_a_missing_row_takes_nothing_from_a_peak_that_is_reached_or_an_average(profile):
    text = made(busbw=350, average=90, without=(4 << 30,))
    assert judge(profile(), parse(text)).outcome is Outcome.PASS
    average = profile(bandwidth=Bandwidth(floor=100, metric="average", source="s"))
    assert judge(average, parse(text)).outcome is Outcome.FAIL


def test_sizes_that_go_up_by_bytes_are_counted_as_such(profile):
    text = made(sizes=(1 << 30, 2 << 30), busbw=120).replace("2(factor)", f"{1 << 29}(bytes)")
    assert "the row of 1.5G cannot be read" in judge(profile(), parse(text)).reason
    whole = made(sizes=(1 << 30, 2 << 30), busbw=120).replace("2(factor)", f"{1 << 30}(bytes)")
    assert judge(profile(), parse(whole)).outcome is Outcome.FAIL


def test_sizes_that_a_test_rounds_down_are_read(profile):
    """All-gather shares a size among the ranks: 1G over 24 of them is 1073741760 bytes."""
    text = made(busbw=120)
    for size in (1 << 20, 1 << 30, 8 << 30):
        text = text.replace(f"  {size}  {size // 4} ", f"  {size - 64}  {size // 4 - 16} ")
    assert judge(profile(), parse(text)).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("model", "device"),
    [
        ("H100", "NVIDIA H100 80GB HBM3"),
        ("H100NVL", "NVIDIA H100 NVL"),
        ("A100", "NVIDIA A100-SXM4-40GB"),
        ("V100", "Tesla V100-SXM2-16GB"),
        ("A10", "NVIDIA A10-24Q"),
        ("A10G", "NVIDIA A10G"),
        ("B300", "NVIDIA B300 SXM6 AC"),
        ("GB200", "NVIDIA GB200"),
        ("RTXPRO6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition"),
    ],
)
def test_a_device_is_known_by_the_name_that_cuda_gives_it(profile, model, device):
    assert judge(profile(gpu_model=model), parse(made(model=device))).outcome is Outcome.PASS
    other = "L4" if model == "H100" else "H200"
    assert judge(profile(gpu_model=other), parse(made(model=device))).outcome is Outcome.NOT_MEASURED


def test_a_log_of_another_machine_does_not_fail_this_one(profile):
    text = made(model="NVIDIA A100-SXM4-80GB", network="Socket", wrong="7")
    assert judge(profile(), parse(text)).outcome is Outcome.NOT_MEASURED


def test_an_average_of_other_sizes_is_another_number(profile):
    floor = Bandwidth(floor=25, metric="average", source="s", min_bytes=1 << 20, max_bytes=512 << 20)
    verdict = judge(profile(bandwidth=floor), parse(made()))
    assert verdict.outcome is Outcome.NOT_MEASURED
    assert "1M to 512M, and this one is of 1K to 8G" in verdict.reason
    same = parse(made(sizes=(1 << 20, 512 << 20)))
    assert judge(profile(bandwidth=floor), same).outcome is Outcome.PASS


def test_a_floor_of_all_gather_is_judged_by_the_all_gather(profile):
    floor = Bandwidth(floor=100, metric="average", source="s", collective="all_gather")
    text = made(collective="all_reduce", average=500) + made(collective="all_gather", average=50)
    verdict = judge(profile(bandwidth=floor), parse(text))
    assert (verdict.outcome, verdict.measured) == (Outcome.FAIL, 50)


def test_a_pool_of_one_node_shared_gpus_or_plain_tcp_needs_no_run(profile):
    shared = SharedGpu(
        kind="mig",
        owner="gpu-operator",
        config="c",
        resource="nvidia.com/mig-1g.10gb",
        per_node=56,
        per_gpu=7,
    )
    plain = NoFabric(reason="the machine has none")
    for made_, nodes, says in (
        (profile(), 1, "one node at most"),
        (profile(sharing=shared), 4, "shared (mig)"),
        (profile(fabric=plain, bandwidth=None), 4, "plain TCP"),
        (profile(capacity=CapacityPlan(kind="queued")), 4, "provisioning request only"),
    ):
        verdict = not_measurable(made_, nodes)
        assert verdict is not None
        assert verdict.outcome is Outcome.NOT_MEASURED
        assert says in verdict.reason
    assert not_measurable(profile(), 2) is None
    assert not_measurable(profile(bandwidth=None), 2) is None
