"""Runs the job of one pool on a cluster, and leaves nothing behind."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpuplatform.accept.job import CONTAINER, DEADLINE_SECONDS, JOB, manifests
from gpuplatform.accept.keys import new_keys
from gpuplatform.accept.kubectl import Kubectl
from gpuplatform.accept.log import parse
from gpuplatform.accept.shortage import shortages
from gpuplatform.accept.verdict import MIN_NODES, Outcome, Verdict, judge
from gpuplatform.errors import ClusterError
from gpuplatform.profile import POOL_LABEL, NodeProfile

__all__ = ["Settings", "run"]

POLL_SECONDS: Final = 5

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a run is made.

    Attributes:
        nodes: How many whole nodes take part.
        image: Another image than the cloud's own.
        start_seconds: How long pods may wait for nodes: a pool at zero has to grow first.
        sleep: Waits between two looks.
        clock: Seconds that only ever grow.
    """

    nodes: int = MIN_NODES
    image: str | None = None
    start_seconds: int = 1800
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic


def run(profile: NodeProfile, kubectl: Kubectl, settings: Settings, report: Report) -> tuple[Verdict, str]:
    """The verdict on a pool of a live cluster, and the log that it comes from (empty where none was made).

    Raises:
        ClusterError: The cluster cannot be asked, or what was made could not be deleted again.
    """
    found = kubectl.json("get", "nodes", "-l", f"{POOL_LABEL}={profile.pool}")
    if short := [str(each) for each in shortages(profile, found.get("items", ()))]:
        return _verdict(profile, Outcome.FAIL, "; ".join(short)), ""
    # Somebody else's run of the same pool has another namespace; the nodes decide whose pods fit.
    namespace = f"gpuplatform-accept-{profile.pool}-{secrets.token_hex(3)}"
    objects = manifests(
        profile, nodes=settings.nodes, namespace=namespace, keys=new_keys(), image=settings.image
    )
    report(f"{profile.pool}: {settings.nodes} nodes of {profile.sku}, in the namespace {namespace}")
    try:
        kubectl.create(objects)
        ended = _wait(kubectl, namespace, settings, report)
        log = _log(kubectl, namespace)
    finally:
        _delete(kubectl, namespace, report)
    parsed = parse(log)
    verdict = judge(profile, parsed)
    if verdict.outcome is Outcome.NOT_MEASURED and ended and not any(run.rows for run in parsed.runs):
        return _verdict(profile, Outcome.NOT_MEASURED, f"{verdict.reason}; {ended}"), log
    return verdict, log


def _wait(kubectl: Kubectl, namespace: str, settings: Settings, report: Report) -> str:
    """Until the job has ended, well or not; what kept it from ending, where something did."""
    begun = settings.clock()
    started: float | None = None
    told = ""
    while True:
        job = kubectl.json("get", "job", JOB, "-n", namespace)
        for condition in job.get("status", {}).get("conditions", ()):
            if condition.get("status") == "True" and condition.get("type") in {"Complete", "Failed"}:
                return str(condition.get("message", "")) if condition["type"] == "Failed" else ""
        pods = kubectl.json("get", "pods", "-n", namespace).get("items", [])
        phases = [pod.get("status", {}).get("phase") for pod in pods]
        running = phases.count("Running")
        if running == settings.nodes and started is None:
            started = settings.clock()
        state = f"{running} of {settings.nodes} pods run"
        if state != told:
            report(state)
            told = state
        now = settings.clock()
        if started is None and now - begun > settings.start_seconds:
            return f"after {settings.start_seconds} s {state}{_held_by(pods)}"
        if started is not None and now - started > DEADLINE_SECONDS:
            return f"the test did not end within {DEADLINE_SECONDS} s"
        settings.sleep(POLL_SECONDS)


def _held_by(pods: list[Mapping[str, Any]]) -> str:
    """Why the first pod that does not run waits, in the cluster's words."""
    for pod in pods:
        status = pod.get("status", {})
        if status.get("phase") == "Running":
            continue
        waiting = [
            each["state"]["waiting"]
            for key in ("initContainerStatuses", "containerStatuses")
            for each in status.get(key, ())
            if "waiting" in each.get("state", {})
        ]
        said = [each.get("message") for each in (*status.get("conditions", ()), *waiting)]
        said += [each.get("reason") for each in waiting]
        if words := next((text for text in said if text), ""):
            return f": {words}"
    return ""


def _log(kubectl: Kubectl, namespace: str) -> str:
    """What the first pod printed; empty where it never did."""
    first = "batch.kubernetes.io/job-completion-index=0"
    pods = kubectl.json("get", "pods", "-n", namespace, "-l", first).get("items", [])
    if not pods or pods[0].get("status", {}).get("phase") == "Pending":
        return ""
    name = pods[0]["metadata"]["name"]
    return kubectl.run("logs", name, "-n", namespace, "-c", CONTAINER, "--tail=-1")


def _delete(kubectl: Kubectl, namespace: str, report: Report) -> None:
    """Takes the namespace away, and all that is in it, whatever happened before and whoever interrupts."""
    command = ("delete", "namespace", namespace, "--ignore-not-found", "--wait=false")
    try:
        kubectl.run(*command)
    except KeyboardInterrupt:
        report(f"still deleting the namespace {namespace}")
        kubectl.run(*command)
        raise
    except ClusterError as error:
        raise ClusterError(
            f"the namespace {namespace} may still be there: {error.what}",
            way_out=f"kubectl {' '.join(command)}",
        ) from None


def _verdict(profile: NodeProfile, outcome: Outcome, reason: str) -> Verdict:
    floor = profile.bandwidth
    return Verdict(
        pool=profile.pool,
        sku=profile.sku,
        outcome=outcome,
        reason=reason,
        floor=floor.floor if floor else None,
        metric=floor.metric if floor else "",
    )
