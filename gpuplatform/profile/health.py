"""What DCGM watches on every GPU, as the GPU Operator's Helm values; pure.

The exporter's own list counts work and leaves most faults out: NVIDIA's last error is a gauge that a second
error overwrites, memory errors and DCGM's health checks are commented out (NVIDIA/dcgm-exporter,
etc/default-counters.csv). A list of one's own replaces that one, so the rows that dashboards need are kept.
Beside it: node repair is each cloud's own (EKS node repair, GKE auto-repair; AKS repairs by itself), and
`gpuplatform accept` names a node that offers fewer GPUs than its machine has.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["HEALTH_METRICS", "health_values"]

_WORK: Final = (
    ("DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz)."),
    ("DCGM_FI_DEV_MEM_CLOCK", "gauge", "Memory clock frequency (in MHz)."),
    ("DCGM_FI_DEV_MEMORY_TEMP", "gauge", "Memory temperature (in C)."),
    ("DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C)."),
    ("DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W)."),
    ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "Total energy consumption since boot (in mJ)."),
    ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "counter", "Total number of PCIe retries."),
    ("DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %)."),
    ("DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", "Memory utilization (in %)."),
    ("DCGM_FI_DEV_FB_FREE", "gauge", "Framebuffer memory free (in MiB)."),
    ("DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB)."),
    ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "counter", "Total NVLink bandwidth over all lanes."),
)

HEALTH_METRICS: Final = (
    # DCGM's own checks (memory, PCIe, NVLink, thermal, power ...), one series a check: 0 is healthy.
    ("DCGM_EXP_GPU_HEALTH_STATUS", "gauge", "Health as DCGM's checks report it."),
    # Counted over a window: the field below keeps the last one only.
    ("DCGM_EXP_XID_ERRORS_COUNT", "gauge", "XID errors within the last minutes."),
    ("DCGM_FI_DEV_XID_ERRORS", "gauge", "Value of the last XID error encountered."),
    ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "counter", "Double-bit volatile ECC errors."),
    ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "counter", "Remapped rows for uncorrectable errors."),
    ("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "counter", "Remapped rows for correctable errors."),
    # A GPU whose rows cannot be remapped any more is to be replaced.
    ("DCGM_FI_DEV_ROW_REMAP_FAILURE", "gauge", "Whether remapping of rows has failed."),
    ("DCGM_FI_DEV_THERMAL_VIOLATION", "counter", "Throttling due to heat (in us)."),
    ("DCGM_FI_DEV_POWER_VIOLATION", "counter", "Throttling due to power (in us)."),
    ("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "counter", "NVLink retries."),
    ("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "counter", "NVLink recovery errors."),
)


def health_values() -> dict[str, Any]:
    """Values by which the exporter's list is ours, as a config map that the chart makes."""
    rows = "".join(f"{name}, {kind}, {text}\n" for name, kind, text in (*_WORK, *HEALTH_METRICS))
    return {"dcgmExporter": {"config": {"name": "gpuplatform-dcgm-metrics", "create": True, "data": rows}}}
