from __future__ import annotations

import pytest

from gpuplatform.guardrails import Limits, Status, Unknown


def _missing(known, cloud):
    """A machine type, a region where it is not sold, and the nearest where it is."""
    for sku in known.skus(cloud):
        sold = known.regions(cloud, sku.name)
        for region in {
            "aws": ("sa-east-1", "us-west-1"),
            "azure": ("brazilsouth", "westus"),
            "gcp": ("europe-west9",),
        }[cloud]:
            if sold and region not in sold and known.knows_region(cloud, region):
                return sku.name, region, known.regions_near(cloud, region, sold)[0]
    raise AssertionError(f"no gap found on {cloud}")


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_a_machine_not_offered_in_the_region_fails_and_names_the_nearest_region_first(
    known, group, verdicts, cloud
):
    machine, region, nearest = _missing(known, cloud)
    verdict = verdicts(group(cloud=cloud, machine=machine, region=region))["offered"]
    assert (verdict.status, verdict.blocks) == (Status.FAIL, True)
    assert f"{machine} is not offered in {region}" in verdict.message
    assert f"nearest first, in {nearest}" in verdict.way_out


def test_where_the_catalogue_knows_no_region_the_offer_is_not_evaluated(known, group, verdicts):
    assert known.regions("gcp", "a4-highgpu-8g") == ()
    verdict = verdicts(group(cloud="gcp", machine="a4-highgpu-8g", capacity="reservation"))["offered"]
    assert verdict.status is Status.NOT_EVALUATED


def test_a_machine_that_is_not_sold_on_demand_fails_on_demand(known, group, verdicts):
    region = known.regions("gcp", "a3-highgpu-1g")[0]
    on_demand = group(cloud="gcp", machine="a3-highgpu-1g", region=region)
    assert "not sold on demand" in verdicts(on_demand)["offered"].message
    spot = group(cloud="gcp", machine="a3-highgpu-1g", region=region, capacity="spot")
    assert verdicts(spot)["offered"].status is Status.PASS


def test_eks_7_a_zone_id_without_the_machine_fails_and_names_the_zones_that_have_it(known, group, verdicts):
    offered = known.offering("aws", "p5en.48xlarge", "us-east-1").zone_ids
    assert "use1-az4" not in offered
    verdict = verdicts(group(machine="p5en.48xlarge", zones=("use1-az4", "use1-az6")))["zone"]
    assert (verdict.status, verdict.blocks) == (Status.FAIL, True)
    assert "p5en.48xlarge is not offered in zone use1-az4" in verdict.message
    assert ", ".join(offered) in verdict.way_out


def test_a_zone_id_with_the_machine_passes(group, verdicts):
    assert verdicts(group(machine="p5en.48xlarge", zones=("use1-az6",)))["zone"].status is Status.PASS


def test_an_aws_zone_name_is_not_evaluated_offline(group, verdicts):
    verdict = verdicts(group(zones=("us-east-1a",)))["zone"]
    assert verdict.status is Status.NOT_EVALUATED
    assert "each AWS account's own" in verdict.message


@pytest.mark.parametrize(
    ("cloud", "zone"), [("aws", "us-west-2a"), ("gcp", "europe-west4-a")], ids=["aws", "gcp"]
)
def test_a_zone_of_another_region_fails(known, group, cloud, zone):
    from datetime import date

    from gpuplatform.guardrails import Footprint, judge

    found = judge(
        Footprint(node_groups=(group(cloud=cloud, zones=(zone,)),)), Limits(), known, date(2026, 11, 30)
    )
    failed = [verdict for verdict in found if verdict.rule == "zone" and verdict.status is Status.FAIL]
    assert len(failed) == 1
    assert zone in failed[0].message


def test_a_zone_id_that_the_region_lacks_fails_for_machines_without_gpus_too(group, verdicts):
    verdict = verdicts(group(machine="m6i.xlarge", asks_for_gpus=False, zones=("use1-az9",)))["zone"]
    assert verdict.status is Status.FAIL
    assert "use1-az1" in verdict.way_out


def test_unknown_zones_are_not_evaluated(group, verdicts):
    assert verdicts(group(zones=Unknown("subnetIds")))["zone"].status is Status.NOT_EVALUATED


def test_zones_left_to_the_cloud_need_no_verdict(group, verdicts):
    assert "zone" not in verdicts(group(zones=()))


@pytest.mark.parametrize("cloud", ["aws", "azure", "gcp"])
def test_a_region_off_the_list_fails_and_names_the_list(group, verdicts, cloud):
    verdict = verdicts(group(cloud=cloud), limits=Limits(regions=("elsewhere-1",)))["region"]
    assert (verdict.status, verdict.blocks) == (Status.FAIL, True)
    assert "elsewhere-1" in verdict.message


def test_an_empty_list_allows_no_region(group, verdicts):
    verdict = verdicts(group(), limits=Limits(regions=()))["region"]
    assert verdict.status is Status.FAIL
    assert "allowed: none" in verdict.message


def test_a_region_that_does_not_exist_fails_and_names_the_nearest(group, verdicts):
    verdict = verdicts(group(region="us-esat-1"))["region"]
    assert verdict.status is Status.FAIL
    assert "us-east-1" in verdict.way_out


def test_an_unknown_region_is_not_evaluated_even_where_a_list_restricts(group, verdicts):
    verdict = verdicts(group(region=Unknown("location")), limits=Limits(regions=("us-east-1",)))["region"]
    assert verdict.status is Status.NOT_EVALUATED


def test_a_cluster_and_its_pools_share_one_verdict_on_their_region(known, group):
    from datetime import date

    from gpuplatform.guardrails import ControlPlane, Footprint, judge

    plane = ControlPlane(
        name="c", where="cluster", cloud="aws", region="us-east-1", kubernetes_version="1.35"
    )
    footprint = Footprint(node_groups=(group(), group(name="other")), control_planes=(plane,))
    found = judge(footprint, Limits(regions=("eu-west-1",)), known, date(2026, 11, 30))
    assert [verdict.subject for verdict in found if verdict.rule == "region"] == ["c"]


def test_zones_that_a_price_file_lists_for_one_machine_say_nothing_of_others(
    known, group, verdicts, tmp_path
):
    file = tmp_path / "own.csv"
    file.write_text('cloud,sku,region,zone_ids,date\nazure,Standard_NC4as_T4_v3,eastus,"1 3",2026-11-01\n')
    own = known.with_prices(file)
    system = group(cloud="azure", machine="Standard_D4s_v5", asks_for_gpus=False, zones=("2",))
    assert "zone" not in verdicts(system, prices=own)
    pool = verdicts(group(cloud="azure", zones=("2",)), prices=own)["zone"]
    assert pool.status is Status.FAIL
    assert "It is in 1, 3" in pool.sentence
