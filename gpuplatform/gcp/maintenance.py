"""When Google may change the cluster by itself."""

from __future__ import annotations

from typing import Any, Final, Literal

from pulumi_gcp import container

__all__ = ["maintenance_policy", "release_channel"]

CHANNELS: Final = {"standard": "REGULAR", "extended": "EXTENDED"}
"""A minor lives 14 months in REGULAR and 24 in EXTENDED, at an extra charge after the first 14
(https://cloud.google.com/kubernetes-engine/docs/concepts/extended-channel)."""

WINDOW_START: Final = "2026-01-03T00:00:00Z"
WINDOW_END: Final = "2026-01-03T12:00:00Z"
"""Saturday and Sunday, 0 to 12 o'clock UTC. GKE asks for at least 48 hours in any 32 days
(https://cloud.google.com/kubernetes-engine/docs/concepts/maintenance-windows-and-exclusions)."""

EXCLUSION_START: Final = "2026-01-01T00:00:00Z"
"""Fixed and past: a clock here would change the cluster with every update."""


def release_channel(support: Literal["standard", "extended"]) -> Any:
    """The channel from which the cluster takes its versions."""
    return container.ClusterReleaseChannelArgs(channel=CHANNELS[support])


def maintenance_policy() -> Any:
    """Patches of the control plane at weekends; minors and nodes only when somebody asks for them.

    An upgrade of a GPU node ends the training job on it, so nodes stay as they are until the minor's end of
    support, as in Google's own blueprints for GPU clusters (GoogleCloudPlatform/cluster-toolkit, gke-a4).
    To bring a pool to its control plane's version, run `gcloud container clusters upgrade` with
    `--node-pool`: what a person starts, an exclusion does not stop. A node pool's `version` is deliberately
    not set: given as a minor it differs from the version that GKE answers with, after each patch anew.
    """
    scope = "NO_MINOR_OR_NODE_UPGRADES"
    return container.ClusterMaintenancePolicyArgs(
        recurring_window=container.ClusterMaintenancePolicyRecurringWindowArgs(
            start_time=WINDOW_START, end_time=WINDOW_END, recurrence="FREQ=WEEKLY;BYDAY=SA,SU"
        ),
        maintenance_exclusions=[
            container.ClusterMaintenancePolicyMaintenanceExclusionArgs(
                exclusion_name="no-minor-or-node-upgrades",
                start_time=EXCLUSION_START,
                exclusion_options=container.ClusterMaintenancePolicyMaintenanceExclusionExclusionOptionsArgs(
                    scope=scope, end_time_behavior="UNTIL_END_OF_SUPPORT"
                ),
            )
        ],
    )
