from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal

import pytest

from gpuplatform.catalog import Price, Unpriced, load

catalog = load()


def test_a_sku_is_found_by_its_exact_name_only():
    assert catalog.sku("aws", "p5.48xlarge").gpu_model == "H100"
    assert catalog.sku("aws", "P5.48xlarge") is None
    assert catalog.sku("azure", "p5.48xlarge") is None


def test_a_general_purpose_machine_is_told_apart_from_a_misspelling():
    assert catalog.sku("azure", "Standard_D16s_v5") is None
    assert catalog.machine("azure", "Standard_D16s_v5").vcpu == 16
    assert catalog.machine("azure", "Standard_NDD96isr_H100_v5") is None
    assert catalog.machine("aws", "p5.48xlarge") is None


@pytest.mark.parametrize(
    ("cloud", "written", "meant"),
    [
        ("azure", "Standard_NDD96isr_H100_v5", "Standard_ND96isr_H100_v5"),
        ("azure", "standard_nd96isr_h100_v5", "Standard_ND96isr_H100_v5"),
        ("azure", "Standard_D16s_v55", "Standard_D16s_v5"),
        ("aws", "p5.48xlrage", "p5.48xlarge"),
        ("aws", "g6.12xlarg", "g6.12xlarge"),
        ("aws", "m7i.xlage", "m7i.xlarge"),
        ("gcp", "a3-hihgpu-8g", "a3-highgpu-8g"),
    ],
)
def test_a_misspelling_names_what_was_meant_first(cloud, written, meant):
    assert catalog.nearest(cloud, written)[0] == meant


def test_nothing_is_suggested_for_what_is_like_nothing():
    assert catalog.nearest("aws", "qqqqqqqq") == ()
    assert catalog.nearest("aws", "") == ()
    assert len(catalog.nearest("azure", "Standard_NC24s_v2", n=2)) == 2


def test_regions_are_sorted_by_distance():
    assert catalog.regions_near(
        "aws", "eu-west-1", ["us-east-1", "eu-west-2", "ap-south-1", "eu-central-1"]
    ) == (
        "eu-west-2",
        "eu-central-1",
        "us-east-1",
        "ap-south-1",
    )
    # Across the date line: Tokyo is nearer to Oregon than Ireland is to Sydney.
    assert (
        catalog.regions_near("gcp", "us-west1", ["australia-southeast1", "asia-northeast1"])[0]
        == "asia-northeast1"
    )
    # The southern hemisphere is south.
    assert catalog.regions_near("gcp", "africa-south1", ["europe-west4", "me-west1"])[0] == "me-west1"


def test_a_region_of_unknown_place_comes_last_and_is_not_lost():
    assert catalog.regions_near("aws", "eu-west-1", ["aa-nowhere-1", "us-east-1"]) == (
        "us-east-1",
        "aa-nowhere-1",
    )
    assert catalog.regions_near("aws", "aa-nowhere-1", ["us-east-1", "eu-west-1"]) == (
        "eu-west-1",
        "us-east-1",
    )


def test_region_names_and_their_misspellings():
    assert catalog.knows_region("aws", "us-east-1")
    assert not catalog.knows_region("azure", "us-east-1")
    assert not catalog.knows_region("aws", "us-east-9")
    assert "us-east-1" in catalog.nearest_region_names("aws", "us-east1")
    assert catalog.nearest_region_names("azure", "EastUS")[0] == "eastus"


def test_an_offering_knows_its_zone_ids():
    offering = catalog.offering("aws", "p5en.48xlarge", "us-east-2")
    assert offering.zone_ids
    assert set(offering.zone_ids) <= set(catalog.zone_ids("aws", "us-east-2"))
    assert catalog.zone_ids("aws", "us-east-2") == ("use2-az1", "use2-az2", "use2-az3")
    assert catalog.zone_ids("gcp", "us-central1") == ()


def test_not_offered_and_not_known_are_two_things():
    assert catalog.offering("aws", "p5en.48xlarge", "af-south-1") is None
    assert catalog.regions("aws", "p5en.48xlarge") != ()
    assert catalog.offering("gcp", "a4-highgpu-8g", "us-central1") is None
    assert catalog.regions("gcp", "a4-highgpu-8g") == ()


def test_a_price_has_its_date_source_and_basis():
    price = catalog.price("azure", "Standard_ND96isr_H100_v5", "eastus")
    assert price == Price(
        usd_per_hour=Decimal("98.32"),
        date=date(2026, 6, 18),
        source="Azure retail prices API, as generated in karpenter-provider-azure",
        origin="catalogue",
        basis="on-demand",
    )


def test_a_price_never_comes_from_another_region():
    assert isinstance(catalog.price("aws", "p5.48xlarge", "us-east-1"), Price)
    elsewhere = catalog.price("aws", "p5.48xlarge", "us-west-2")
    assert elsewhere == Unpriced(reason="no price is known for p5.48xlarge in us-west-2")


@pytest.mark.parametrize("sku", catalog.skus(), ids=lambda sku: f"{sku.cloud}-{sku.name}")
def test_every_unpriced_reason_names_the_type_and_the_region(sku):
    price = catalog.price(sku.cloud, sku.name, "nowhere")
    assert isinstance(price, Unpriced)
    assert sku.name in price.reason
    assert "nowhere" in price.reason


def test_spot_costs_its_own_price_and_on_demand_is_its_ceiling():
    spot = catalog.price("gcp", "g2-standard-4", "us-central1", "spot")
    assert (spot.usd_per_hour, spot.basis) == (Decimal("0.397336"), "spot")
    ceiling = catalog.price("azure", "Standard_NC40ads_H100_v5", "eastus", "spot")
    on_demand = catalog.price("azure", "Standard_NC40ads_H100_v5", "eastus")
    assert (ceiling.usd_per_hour, ceiling.basis) == (on_demand.usd_per_hour, "on-demand as ceiling")


@pytest.mark.parametrize(
    ("kind", "basis"),
    [
        ("on-demand", "on-demand"),
        ("reservation", "on-demand"),
        ("capacity-block", "on-demand as ceiling"),
        ("flex-start", "on-demand as ceiling"),
        ("queued", "on-demand as ceiling"),
    ],
)
def test_each_kind_of_capacity_says_what_its_price_stands_on(kind, basis):
    assert catalog.price("aws", "p5.48xlarge", "us-east-1", kind).basis == basis


def test_a_system_pool_is_priced_too():
    assert catalog.price("aws", "m6i.xlarge", "us-east-1").usd_per_hour == Decimal("0.192")
    assert isinstance(catalog.price("azure", "Standard_D4s_v5", "westeurope"), Price)
    assert isinstance(catalog.price("gcp", "n2-standard-8", "europe-west4"), Price)
    assert isinstance(catalog.price("aws", "m6i.xlarge", "eu-west-1"), Unpriced)


def test_a_type_that_does_not_exist_is_not_called_unpriced_only():
    assert "does not know this machine type" in catalog.price("aws", "p55.large", "us-east-1").reason


def test_a_gpu_attached_to_an_n1_host_takes_the_hosts_size():
    sku = catalog.sku("gcp", "n1-standard-8+nvidia-tesla-t4:1")
    assert (sku.name, sku.gpu_model, sku.vcpu, sku.gpu_count) == (
        "n1-standard-8+nvidia-tesla-t4:1",
        "T4",
        8,
        Decimal(1),
    )
    assert not sku.attaches_to_host
    assert catalog.sku("gcp", "n1+nvidia-tesla-t4:1").attaches_to_host


@pytest.mark.parametrize(
    "name",
    [
        "n1-standard-96+nvidia-tesla-t4:1",  # larger than one T4 allows
        "n1-standard-8+nvidia-tesla-t4:3",  # no such count
        "n2-standard-8+nvidia-tesla-t4:1",  # only N1 takes attached GPUs
        "n1-standard-7+nvidia-tesla-t4:1",  # no such host
        "n1-standard-8+",
        "+",
    ],
)
def test_an_impossible_host_is_no_sku(name):
    assert catalog.sku("gcp", name) is None


def test_an_attached_gpu_is_unpriced_because_its_price_has_no_date():
    price = catalog.price("gcp", "n1-standard-8+nvidia-tesla-t4:1", "us-central1")
    assert isinstance(price, Unpriced)
    assert "no dated price for the GPU" in price.reason


def test_a_retirement_takes_effect_on_its_day():
    sku = catalog.sku("azure", "Standard_NC12s_v3")
    assert sku.retire_on is not None
    assert sku.is_retired(sku.retire_on)
    assert not sku.is_retired(date.fromordinal(sku.retire_on.toordinal() - 1))
    assert not catalog.sku("aws", "p5.48xlarge").is_retired(date(2099, 1, 1))
    assert catalog.sku("aws", "p3.2xlarge").is_retired(date(2026, 11, 30))


def test_kubernetes_minors_have_their_dates_and_prices():
    versions = {version.minor: version for version in catalog.kubernetes("aws")}
    assert versions["1.35"].standard_until == date(2027, 3, 27)
    assert versions["1.35"].extended_until == date(2028, 3, 27)
    ratio = versions["1.35"].control_plane_usd_per_hour_extended / versions["1.35"].control_plane_usd_per_hour
    assert ratio == 6


def test_importing_the_catalogue_loads_nothing_heavy():
    code = (
        "import sys; from gpuplatform import catalog; "
        "catalog.load().price('aws', 'p5.48xlarge', 'us-east-1'); "
        "print([m for m in ('pydantic', 'pulumi', 'yaml', 'rich', 'typer') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
