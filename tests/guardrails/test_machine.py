from __future__ import annotations

from datetime import date

import pytest

from gpuplatform.guardrails import Limits, Status, Unknown


@pytest.mark.parametrize(
    ("cloud", "machine", "likely"),
    [
        ("azure", "Standard_D16s_v5", "Standard_N"),
        ("aws", "m6i.4xlarge", "g6"),
        ("gcp", "n2-standard-8", "g2-standard-8"),
    ],
)
def test_a_general_purpose_machine_in_a_gpu_pool_fails_and_names_what_may_be_meant(
    group, verdicts, cloud, machine, likely
):
    verdict = verdicts(group(cloud=cloud, machine=machine))["gpu-pool"]
    assert verdict.status is Status.FAIL
    assert verdict.blocks
    assert f"{machine} has no GPU" in verdict.message
    assert likely in verdict.way_out


@pytest.mark.parametrize(
    ("cloud", "misspelt", "nearest"),
    [
        ("aws", "p5.48xlrge", "p5.48xlarge"),
        ("azure", "Standard_ND96isr_H100_v6", "Standard_ND96isr_H100_v5"),
        ("gcp", "a3-megagpu-8", "a3-megagpu-8g"),
    ],
)
def test_a_misspelt_machine_fails_and_names_the_nearest(group, verdicts, cloud, misspelt, nearest):
    verdict = verdicts(group(cloud=cloud, machine=misspelt))["machine"]
    assert (verdict.status, verdict.blocks) == (Status.FAIL, True)
    assert misspelt in verdict.message
    assert nearest in verdict.way_out


def test_a_machine_like_nothing_known_fails_too_and_is_never_a_pass(group, verdicts):
    """EKS-7: a table without the machine type is 'unknown', never a pass."""
    found = verdicts(group(machine="zz99.mega"))
    assert found["machine"].status is Status.FAIL
    assert "add-a-sku" in found["machine"].way_out


def test_a_newer_generation_outside_gpu_pools_is_not_evaluated_while_a_slip_fails(group, verdicts):
    newer = verdicts(group(machine="m99i.xlarge", asks_for_gpus=False))["machine"]
    assert (newer.status, newer.blocks) == (Status.NOT_EVALUATED, False)
    slip = verdicts(group(machine="m6i.xlarg", asks_for_gpus=False))["machine"]
    assert slip.status is Status.FAIL
    assert "m6i.xlarge" in slip.way_out


def test_an_unknown_machine_is_not_evaluated_and_blocks_only_where_asked(group, verdicts):
    unknown = group(machine=Unknown("instanceTypes"))
    assert verdicts(unknown)["machine"].status is Status.NOT_EVALUATED
    assert not verdicts(unknown)["machine"].blocks
    strict = verdicts(unknown, limits=Limits(not_evaluated_fails=True))["machine"]
    assert strict.blocks
    assert "instanceTypes is unknown until update" in strict.message


def test_a_machine_left_to_the_cloud_is_not_evaluated(group, verdicts):
    assert verdicts(group(machine=""))["machine"].status is Status.NOT_EVALUATED


def test_gpus_in_a_pool_that_asks_for_none_fail(group, verdicts):
    verdict = verdicts(group(machine="p5.48xlarge", asks_for_gpus=False))["gpu-pool"]
    assert (verdict.status, verdict.blocks) == (Status.FAIL, True)
    assert "8 x H100" in verdict.message
    assert "nvidia.com/gpu:NoSchedule" in verdict.way_out


def test_whether_a_pool_asks_for_gpus_may_be_unknown(group, verdicts):
    verdict = verdicts(group(asks_for_gpus=Unknown("taints")))["gpu-pool"]
    assert verdict.status is Status.NOT_EVALUATED
    assert "taints is unknown" in verdict.message


def test_a_plain_virtual_machine_asks_by_its_type_alone(group, verdicts):
    assert "gpu-pool" not in verdicts(group(asks_for_gpus=None))


@pytest.mark.parametrize(
    ("cloud", "machine"),
    [("aws", "p3.2xlarge"), ("azure", "Standard_NC6s_v3"), ("azure", "Standard_NV12s_v3")],
)
def test_a_retired_machine_fails(group, verdicts, cloud, machine):
    verdict = verdicts(group(cloud=cloud, machine=machine))["retired"]
    assert (verdict.status, verdict.blocks) == (Status.FAIL, True)
    assert machine in verdict.message


def test_an_announced_retirement_warns_with_its_date_until_the_day_comes(group, verdicts):
    before = verdicts(group(cloud="azure", machine="Standard_NV12s_v3"), today=date(2026, 9, 29))["retired"]
    assert before.status is Status.WARN
    assert "2026-09-30" in before.message
    on_the_day = verdicts(group(cloud="azure", machine="Standard_NV12s_v3"), today=date(2026, 9, 30))[
        "retired"
    ]
    assert on_the_day.status is Status.FAIL


def test_a_gpu_model_off_the_list_fails_whatever_its_case(group, verdicts):
    limits = Limits(gpu_models=("h100", "L4"))
    assert verdicts(group(machine="p5.48xlarge"), limits=limits)["gpu-model"].status is Status.PASS
    verdict = verdicts(group(machine="p4d.24xlarge"), limits=limits)["gpu-model"]
    assert (verdict.status, verdict.blocks) == (Status.FAIL, True)
    assert "A100" in verdict.message
    assert "h100, L4" in verdict.message


def test_without_a_list_of_models_there_is_no_verdict_on_them(group, verdicts):
    assert "gpu-model" not in verdicts(group())


def test_training_on_several_nodes_is_warned_about_tcp_and_on_one_node_is_not(group, verdicts):
    train = {"machine": "p5.48xlarge", "purpose": "training", "nodes_max": 2}
    several = verdicts(group(**train, fabric=False))["fabric"]
    assert (several.status, several.blocks) == (Status.WARN, False)
    assert "TCP" in several.message
    assert "efa" in several.message
    assert "fabric" not in verdicts(group(**{**train, "nodes_max": 1}, fabric=False))
    assert "fabric" not in verdicts(group(**{**train, "purpose": "inference"}, fabric=False))


def test_a_machine_without_any_fabric_is_warned_about_whatever_is_attached(group, verdicts):
    for attached in (True, False, None):
        verdict = verdicts(group(machine="g6.xlarge", purpose="training", nodes_max=2, fabric=attached))[
            "fabric"
        ]
        assert verdict.status is Status.WARN
        assert "no fabric" in verdict.message


def test_an_attached_fabric_passes_and_so_does_one_that_comes_with_the_machine(group, verdicts):
    train = {"machine": "p5.48xlarge", "purpose": "training", "nodes_max": 2}
    assert verdicts(group(**train, fabric=True))["fabric"].status is Status.PASS
    assert verdicts(group(**train, fabric=None))["fabric"].status is Status.PASS


def test_a_fabric_that_only_the_update_will_tell_is_not_a_pass(group, verdicts):
    train = {"machine": "p5.48xlarge", "purpose": "training", "nodes_max": 2}
    verdict = verdicts(group(**train, fabric=Unknown("networkInterfaces")))["fabric"]
    assert verdict.status is Status.NOT_EVALUATED
    assert "networkInterfaces" in verdict.message


def test_every_further_machine_type_of_a_group_is_judged(group, verdicts):
    assert verdicts(group(machine="g6.xlarge", also=("p3.2xlarge",)))["retired"].status is Status.FAIL


PLAIN = {"aws": "m6i.xlarge", "azure": "Standard_D4s_v5", "gcp": "n2-standard-8"}
GPUS = {"aws": "p5.48xlarge", "azure": "Standard_ND96isr_H100_v5", "gcp": "a3-megagpu-8g"}
NEWER = {"aws": "m9i.xlarge", "azure": "Standard_D4s_v9", "gcp": "n9-standard-8"}
TYPE_OF = {
    "aws": "an AWS machine type",
    "azure": "an Azure machine type",
    "gcp": "a Google Cloud machine type",
}


@pytest.mark.parametrize("asks_for_gpus", [True, False, None, Unknown("taints")])
@pytest.mark.parametrize(
    ("cloud", "other"), [(one, other) for one in PLAIN for other in PLAIN if one != other]
)
def test_another_clouds_machine_fails_in_every_pool_and_names_the_cloud(
    group, verdicts, cloud, other, asks_for_gpus
):
    known = (PLAIN[other], GPUS[other])
    for machine in (*known, *(name.swapcase() for name in known), NEWER[other]):
        verdict = verdicts(group(cloud=cloud, machine=machine, asks_for_gpus=asks_for_gpus))["machine"]
        assert (verdict.status, verdict.blocks) == (Status.FAIL, True)
        assert f"{machine} is {TYPE_OF[other]}" in verdict.message
        if asks_for_gpus is False:
            assert TYPE_OF[cloud] in verdict.way_out
        else:
            assert f"gpuplatform sku list --cloud {cloud}" in verdict.way_out


@pytest.mark.parametrize("asks_for_gpus", [True, False, None])
@pytest.mark.parametrize("cloud", PLAIN)
def test_a_slip_of_case_fails_with_the_right_spelling(group, verdicts, cloud, asks_for_gpus):
    for machine in (PLAIN[cloud], GPUS[cloud]):
        slip = machine.swapcase()
        verdict = verdicts(group(cloud=cloud, machine=slip, asks_for_gpus=asks_for_gpus))["machine"]
        assert (verdict.status, verdict.blocks) == (Status.FAIL, True)
        assert verdict.message == f"{slip} is spelled {machine}"
        assert machine in verdict.way_out


@pytest.mark.parametrize("cloud", PLAIN)
def test_a_newer_generation_of_the_pools_own_cloud_is_not_evaluated(group, verdicts, cloud):
    verdict = verdicts(group(cloud=cloud, machine=NEWER[cloud], asks_for_gpus=False))["machine"]
    assert (verdict.status, verdict.blocks) == (Status.NOT_EVALUATED, False)
