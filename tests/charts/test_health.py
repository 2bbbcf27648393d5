"""What DCGM watches, as the operator is told."""

from __future__ import annotations

import pytest
from chart_data import chart_defaults
from profiles import made_profile

from gpuplatform.profile import AmiDriver, operator_values
from gpuplatform.profile.health import HEALTH_METRICS, health_values


def rows_of(values):
    return [line.split(", ", 2) for line in values["dcgmExporter"]["config"]["data"].splitlines()]


def test_every_row_is_a_field_a_type_and_a_help_text():
    rows = rows_of(health_values())
    assert {len(row) for row in rows} == {3}
    assert not any("," in row[2] for row in rows), "the list is comma-separated"
    assert {row[1] for row in rows} == {"gauge", "counter"}
    names = [row[0] for row in rows]
    assert len(names) == len(set(names))
    assert all(name.startswith(("DCGM_FI_", "DCGM_EXP_")) for name in names)


def test_dcgm_s_health_checks_xids_memory_and_nvlink_errors_are_watched():
    watched = {name for name, _, _ in HEALTH_METRICS}
    assert {"DCGM_EXP_GPU_HEALTH_STATUS", "DCGM_EXP_XID_ERRORS_COUNT"} <= watched
    assert {"DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"} <= watched
    assert {name for name, _, _ in HEALTH_METRICS} <= {row[0] for row in rows_of(health_values())}


def test_the_operator_s_values_carry_the_list_and_keep_the_service_monitor_off():
    driver = AmiDriver(ami_type="AL2023_x86_64_NVIDIA")
    exporter = operator_values([made_profile(driver)])["dcgmExporter"]
    assert exporter["config"] == health_values()["dcgmExporter"]["config"]
    assert exporter["serviceMonitor"] == {"enabled": False}


@pytest.mark.parametrize("version", ["v26.3.3", "v26.7.0"])
def test_the_chart_describes_every_key_that_is_set(version):
    config = chart_defaults("gpu-operator", version)["dcgmExporter"]["config"]
    assert config.keys() == health_values()["dcgmExporter"]["config"].keys()
