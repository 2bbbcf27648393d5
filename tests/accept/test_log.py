"""What is read from nccl-tests' and NCCL's output."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplatform.accept import parse

HEAD = (
    "# nThread 1 nGpus 1 minBytes 1024 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 "
    "agg iters: 1 validation: 1 graph: 0\n"
)
COLUMNS = (
    "#       size         count      type   redop    root     time   algbw   busbw #wrong"
    "     time   algbw   busbw #wrong\n"
)
RANKS = "#  Rank  0 Group  0 Pid     21 on host-1 device  0 [0x35] Tesla T4\n"
ROW = (
    "     1048576        262144     float     sum      -1    583.4    1.80    1.80      0"
    "    579.6    1.81    1.81      0\n"
)
INFO = "host-1:21:26 [1] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/AWS Libfabric/0/GDRDMA"


def test_a_log_under_mpirun_with_tagged_output(log):
    found = log("efa")
    (run,) = found.runs
    assert (run.min_bytes, run.max_bytes) == (1, 1 << 30)
    assert run.hosts == {"test-nccl-efa-worker-0", "test-nccl-efa-worker-1"}
    assert run.ranks == {0, 1}
    assert [row.size for row in run.rows] == [0, 4, 1 << 20, 512 << 20, 1 << 30]
    assert (run.average, run.peak, run.out_of_bounds, run.wrong) == (1.15327, 3.13, 0, 0)
    assert run.complete
    assert run.checked
    assert found.transports == {"AWS Libfabric"}
    assert found.warnings == found.failures == ()


def test_a_plain_log_of_sixteen_ranks(log):
    (run,) = log("a3-mega").runs
    assert run.ranks == set(range(16))
    assert run.hosts == {"ztan-mig-235z", "ztan-mig-gq73"}
    assert (run.average, run.peak) == (70.742, 338.82)
    last = run.rows[-1]
    assert (last.out_of_place.time_us, last.out_of_place.algbw) == (47535, 180.71)
    assert last.in_place is not None
    assert last.in_place.busbw == 337.35


def test_average_and_peak_are_two_numbers(log):
    (run,) = log("a3-mega").runs
    assert run.average < run.peak / 4


def test_results_that_were_not_checked_are_not_taken_for_right(log):
    (run,) = log("aks").runs
    assert not run.checked
    assert run.rows[-1].out_of_place.wrong is None
    assert (run.average, run.peak) == (56.3994, 187.22)
    assert run.hosts == set()


def test_an_old_error_column_is_no_count_of_wrong_elements(log):
    (run,) = log("p4d-old").runs
    assert run.rows[0].out_of_place.wrong is None
    assert run.peak == 57.20
    assert run.wrong == 0


def test_old_ranks_have_no_group(log):
    (run,) = log("old").runs
    assert run.hosts == {"v100-gpu-1", "v100-gpu-5"}
    assert log("old").warnings == ("Failed to open libibverbs.so[.1]",)


def test_a_fallback_to_sockets_is_seen_and_so_is_its_cause(log):
    found = log("socket")
    assert found.transports == {"Socket"}
    assert found.warnings == (
        "NET/OFI aws-ofi-nccl initialization failed",
        "NET/OFI Initializing plugin failed",
    )
    assert found.runs == ()


@pytest.mark.parametrize(
    ("line", "transport"),
    [
        ("vm-0:606:642 [ 6 ] NCCL INFO Using network gIB", "gIB"),
        ("vm-0:606:642 [6] NCCL INFO Using network FasTrak", "FasTrak"),
        ("vm-0:606:642 [6] NCCL INFO Using network GPUDirectTCPX_v7", "GPUDirectTCPX_v7"),
        ("vm-0:606:642 [6] NCCL INFO Using network IB", "IB"),
        ("vm-0:606:642 [6] NCCL INFO Using network IBext_v11", "IBext_v11"),
        ("vm-0:606:642 [6] NCCL INFO Using network Libfabric", "Libfabric"),
        ("w:2050:3084 [0] NCCL INFO Channel 03/0 : 2[2] -> 11[3] [send] via NET/gIB/3/GDRDMA", "gIB"),
        ("w:53:271 [0] NCCL INFO Channel 00/0 : 2[0] -> 3[0] [receive] via NET/Socket/0", "Socket"),
        ("\x1b[36m(Worker pid=3590)\x1b[0m w:1:2 [2] NCCL INFO Using network gIB", "gIB"),
        ("[pod/nccl-0-x/nccl] w:1:2 [2] NCCL INFO Using network Socket", "Socket"),
        ("2026-11-30T20:00:00.123456789Z w:1:2 [2] NCCL INFO Using network Socket", "Socket"),
        ("0: w:1:2 [2] NCCL INFO Using network Socket", "Socket"),
    ],
)
def test_the_transport_is_what_nccl_says_it_uses(line, transport):
    assert parse(line + "\n").transports == {transport}


@pytest.mark.parametrize(
    "line",
    [
        "w:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>",
        "w:1:2 [0] NCCL INFO NET/IB : No device found.",
        "w:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/CUMEM",
        "w:1:2 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>",
    ],
)
def test_what_nccl_only_looks_at_is_no_transport(line):
    """Sockets are always initialised, for the ranks to find each other."""
    assert parse(line + "\n").transports == frozenset()


def test_libfabric_over_tcp_is_told_apart_from_efa():
    provider = "w:1:2 [0] NCCL INFO NET/OFI Selected provider is {}, fabric is x (found 1 nics)\n"
    network = "w:1:2 [0] NCCL INFO Using network Libfabric\n"
    assert parse(network + provider.format("tcp;ofi_rxm")).transports == {"Libfabric over tcp;ofi_rxm"}
    assert parse(network + provider.format("efa")).transports == {"Libfabric"}


def test_one_rank_on_sockets_is_seen_among_many():
    lines = [f"w:{rank}:2 [0] NCCL INFO Using network gIB" for rank in range(15)]
    assert parse("\n".join([*lines, "w:15:2 [0] NCCL INFO Using network Socket", ""])).transports == {
        "gIB",
        "Socket",
    }


@pytest.mark.parametrize("cut", range(len(ROW)))
def test_a_row_that_another_rank_s_message_breaks_is_put_together_again(cut):
    broken = f"{ROW[:cut]}{INFO}\n{INFO}\n{ROW[cut:]}"
    (run,) = parse(HEAD + RANKS + COLUMNS + broken).runs
    (whole,) = parse(HEAD + COLUMNS + ROW).runs
    assert run.rows == whole.rows
    assert len(run.rows) == 1


def test_a_message_behind_a_whole_row_takes_nothing_from_it():
    (run,) = parse(HEAD + RANKS + COLUMNS + ROW.rstrip() + INFO + "\n" + ROW).runs
    assert len(run.rows) == 2
    assert run.rows[0] == run.rows[1]


def test_a_broken_row_whose_rest_never_comes_is_left_out():
    (run,) = parse(HEAD + RANKS + COLUMNS + ROW[:60] + INFO + "\n" + ROW).runs
    assert len(run.rows) == 1


@pytest.mark.parametrize("cut", range(1, len(ROW)))
def test_a_broken_row_gives_no_number_that_was_never_printed(cut):
    """Where the log does not tell the nodes' names, nobody knows where a message began."""
    broken = f"{ROW[:cut]}{INFO}\n{ROW[cut:]}"
    for run in parse(HEAD + COLUMNS + broken).runs:
        for row in run.rows:
            assert {half.busbw for half in row.halves} <= {1.80, 1.81}
            assert {half.time_us for half in row.halves} <= {583.4, 579.6}


@given(length=st.integers(min_value=0))
def test_a_log_cut_off_anywhere_says_nothing_that_the_whole_does_not(length):
    text = HEAD + "#  Rank  0 Group  0 Pid  1 on a device  0 [0x35] X\n" + COLUMNS + ROW * 3
    text += "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 194.675 \n#\n"
    whole, part = parse(text), parse(text[: length % (len(text) + 1)])
    for run in part.runs:
        assert run.average in {None, 194.675}
        assert run.peak in {None, 1.81}
        assert run.rows == whole.runs[0].rows[: len(run.rows)]
        assert not run.complete or run.rows


@given(st.text())
def test_no_text_whatever_is_an_error(text):
    parse(text)
    parse(HEAD + COLUMNS + text + "\n")


def test_several_tests_in_one_log_are_kept_apart():
    started = "# Collective test starting: {}_perf\n"
    average = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {} \n"
    text = (
        "gpuplatform-accept: run all_reduce\n"
        + started.format("all_reduce")
        + HEAD
        + COLUMNS
        + ROW
        + average.format(10)
        + "# Collective test concluded: all_reduce_perf\n"
        + "gpuplatform-accept: run all_gather\n"
        + started.format("all_gather")
        + HEAD
        + COLUMNS
        + ROW
        + ROW
        + average.format(20)
        + "gpuplatform-accept: done\n"
    )
    found = parse(text)
    assert [(run.collective, run.average, len(run.rows)) for run in found.runs] == [
        ("all_reduce", 10, 1),
        ("all_gather", 20, 2),
    ]
    assert found.run_of("all_gather") is found.runs[1]
    assert found.run_of("all_to_all") is None
    assert found.said == ("run all_reduce", "run all_gather", "done")


def test_older_versions_do_not_name_their_test_and_the_job_does():
    (run,) = parse("gpuplatform-accept: run all_gather\n" + HEAD + COLUMNS + ROW).runs
    assert run.collective == "all_gather"


def test_one_half_only_is_read_too():
    line = "  34359738368  8589934592  float   sum    -1  875713  39.24   68.66       0\n"
    (run,) = parse(COLUMNS + line).runs
    assert run.rows[0].in_place is None
    assert run.peak == 68.66


def test_wrong_elements_are_counted_in_every_column():
    wrong = ROW.replace("1.80      0", "1.80     12")
    (run,) = parse(HEAD + COLUMNS + wrong + "# Out of bounds values : 1 FAILED\n").runs
    assert run.wrong == 12
    (run,) = parse(HEAD + COLUMNS + ROW + "# Out of bounds values : 3 FAILED\n").runs
    assert run.wrong == 3


def test_failures_of_the_test_and_of_mpirun_are_kept():
    text = (
        "host: Test NCCL failure common.cu:1005 'unhandled system error'\n"
        "Primary job  terminated normally, but 1 process returned a non-zero exit code.\n"
    )
    assert parse(text).failures == tuple(line.strip() for line in text.splitlines())
