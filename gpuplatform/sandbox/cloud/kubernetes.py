"""The simulated Kubernetes API: objects and Helm releases, kept per cluster.

A cluster is one of the simulated AKS, EKS and GKE clusters, found by the API server's host name in the
provider's kubeconfig. Two clusters are apart; a cluster that is gone cannot be reached, and took its
objects along.

No controller runs: Deployments have no pods, releases have no objects, webhooks answer nothing. What a chart
makes of its values is the charts' tests' business. Only claims are bound to the volumes that they name,
which is what the provider waits for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import yaml

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.azure.functions import guid
from gpuplatform.sandbox.cloud.names import KUBERNETES
from gpuplatform.sandbox.cloud.rule import Account, Call, Cloud, CloudError, NameRule, Rule, by_token
from gpuplatform.sandbox.cloud.world import Thing, World
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["CLOUD", "SYSTEM_NAMESPACES"]

NAMESPACE = "kubernetes:core/v1:Namespace"
RELEASE = "kubernetes:helm.sh/v3:Release"
VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"

SYSTEM_NAMESPACES = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
"""Those that every cluster starts with."""

_CLUSTER_WIDE = frozenset({
    "APIService", "AdmissionCheck", "CSIDriver", "ClusterPolicy", "ClusterQueue", "ClusterRole",
    "ClusterRoleBinding", "Cohort", "CustomResourceDefinition", "GKENetworkParamSet", "IngressClass",
    "MutatingWebhookConfiguration", "Namespace", "Network", "NicClusterPolicy", "Node", "NodeFeatureRule",
    "PersistentVolume", "PriorityClass", "ProvisioningRequestConfig", "ResourceFlavor", "RuntimeClass",
    "StorageClass", "Topology", "ValidatingAdmissionPolicy", "ValidatingWebhookConfiguration",
})  # fmt: skip
"""Kinds without a namespace: `kubectl api-resources --namespaced=false`, and those of the charts in use."""

_BROUGHT_BY = {
    "kueue.x-k8s.io": frozenset({"kueue"}),
    "mellanox.com": frozenset({"network-operator"}),
    "nfd.k8s-sigs.io": frozenset({"gpu-operator", "network-operator", "node-feature-discovery"}),
    "nvidia.com": frozenset({"gpu-operator"}),
}
"""API groups whose kinds a chart defines: before its release there is nothing of them to be made."""

_UNREACHABLE = "configured Kubernetes cluster is unreachable: "
_WAITED = "timed out waiting for the condition"


def _account(config: Mapping[str, Any], world: World) -> Account:
    host, why = _host(config.get("kubeconfig"))
    cluster = world.cluster_at(host) if host else None
    if host and cluster is None:
        why = f"dial tcp: lookup {host}: no such host (no simulated cluster has this API server)"
    scope = f"cluster/{cluster.key}" if cluster else "unreachable"
    return Account(owner=scope, scope=scope, config={**config, "unreachable": why})


def _host(kubeconfig: Any) -> tuple[str, str]:
    """The API server's host name, or why there is none."""
    if not isinstance(kubeconfig, str) or not kubeconfig.strip():
        return "", "the provider has no kubeconfig, and the sandbox does not use the machine's own"
    try:
        config = yaml.safe_load(kubeconfig)
        server = config["clusters"][0]["cluster"]["server"]
    except (yaml.YAMLError, LookupError, TypeError) as error:
        return "", f"the kubeconfig cannot be read: {error}"
    host = urlsplit(server if "//" in server else f"https://{server}").hostname
    return host or "", "" if host else f"the kubeconfig's server {server!r} is no address"


def _reachable(account: Account, world: World) -> None:
    why = account.config.get("unreachable")
    if not why and not world.exists(account.scope.removeprefix("cluster/")):
        why = "dial tcp: no such host (the cluster is gone)"
    if why:
        raise CloudError(f"{_UNREACHABLE}{why}")


def _kind(call: Call) -> str:
    return call.token.rpartition(":")[2].removesuffix("Patch")


def _namespace(call: Call) -> str:
    if call.token == RELEASE:
        return str(call.get("namespace") or call.account.config.get("namespace") or "default")
    if _kind(call) in _CLUSTER_WIDE:
        return ""
    return str(call.get("metadata.namespace") or call.account.config.get("namespace") or "default")


def _id(call: Call) -> str:
    namespace = _namespace(call)
    return f"{namespace}/{call.name}" if namespace else call.name


def _outputs(call: Call) -> dict[str, Any]:
    if call.token == RELEASE:
        return {}
    uid = guid(call.account.scope, call.token, call.id)
    generation = str(int(wire.first(call.previous, "metadata.resourceVersion", 0)) + 1)
    metadata: dict[str, Any] = {"uid": uid, "name": call.name, "resourceVersion": generation}
    if _namespace(call):
        metadata["namespace"] = _namespace(call)
    return {"metadata": metadata}


def _create(call: Call) -> None:
    _kind_exists(call)
    namespace = _namespace(call)
    if not namespace or namespace in SYSTEM_NAMESPACES:
        return
    if call.token == RELEASE and call.get("createNamespace"):
        return
    found = call.world.get("kubernetes", call.account.scope, NAMESPACE, namespace)
    made_by_helm = any(
        thing.token == RELEASE
        and thing.inputs.get("createNamespace")
        and thing.outputs.get("namespace") == namespace
        for thing in call.world.inside(call.account.scope)
    )
    if found is None and not made_by_helm:
        raise CloudError(f'namespaces "{namespace}" not found')


def _kind_exists(call: Call) -> None:
    version = str(call.get("apiVersion") or "")
    charts = _BROUGHT_BY.get(version.partition("/")[0])
    if charts is None:
        return
    installed = {
        str(thing.inputs.get("chart")).rpartition("/")[2]
        for thing in call.world.inside(call.account.scope)
        if thing.token == RELEASE
    }
    if not charts & installed:
        raise CloudError(f'no matches for kind "{_kind(call)}" in version "{version}"')


def _delete_namespace(call: Call) -> None:
    """Takes along what is in it, as the namespace controller does."""
    for thing in call.world.inside(call.account.scope):
        if thing.token != NAMESPACE and thing.id.startswith(f"{call.id}/"):
            call.world.remove(thing.key)
            if thing.token == CLAIM:
                _release(replace(call, inputs=wire.plain(thing.inputs)))


def _bind(call: Call) -> None:
    """Binds a claim to the volume that it names; one that names none waits for its first pod."""
    _create(call)
    name = call.get("spec.volumeName")
    if not isinstance(name, str):
        return
    volume = call.world.get("kubernetes", call.account.scope, VOLUME, name)
    why = "it does not exist" if volume is None else _not_for(volume, _id(call))
    if volume is None or why:
        raise CloudError(f"{_WAITED}: claim {_id(call)} is not bound to volume {name}: {why}")
    _phase(call.world, volume, "Bound")


def _not_for(volume: Thing, claim: str) -> str:
    """Why a volume is not bound to a claim; empty where it is.

    Source: https://kubernetes.io/docs/concepts/storage/persistent-volumes, "Binding" and "Reclaiming".
    """
    named = wire.first(volume.inputs, "spec.claimRef.name")
    held = f"{wire.first(volume.inputs, 'spec.claimRef.namespace')}/{named}"
    if named is not None and held != claim:
        return f"it is reserved for claim {held}"
    phase = wire.first(volume.outputs, "status.phase", "Available")
    return "" if phase == "Available" else f"it is {phase}"


def _release(call: Call) -> None:
    """A volume whose claim is gone is Released: it keeps its data, and is bound to no claim again."""
    name = call.get("spec.volumeName")
    volume = call.world.get("kubernetes", call.account.scope, VOLUME, str(name))
    if volume is not None:
        _phase(call.world, volume, "Released")


def _phase(world: World, volume: Thing, phase: str) -> None:
    world.change(volume.key, inputs=volume.inputs, outputs={**volume.outputs, "status": {"phase": phase}})


def _delete_volume(call: Call) -> None:
    """The finalizer kubernetes.io/pv-protection keeps a volume as long as a claim has it."""
    for thing in call.world.inside(call.account.scope):
        if thing.token == CLAIM and wire.first(thing.inputs, "spec.volumeName") == call.id:
            raise CloudError(f"{_WAITED}: volume {call.id} is bound to claim {thing.id}")


def _volume_outputs(call: Call) -> dict[str, Any]:
    return {"status": {"phase": wire.first(call.previous, "status.phase", "Available")}}


def _check_release(call: Call) -> Iterator[Problem]:
    for path in ("version",):
        version = call.get(path)
        if version is not None and not str(version).strip():
            yield Problem(path, "must not be empty: a release without a version follows the newest chart")


def _release_outputs(call: Call) -> dict[str, Any]:
    revision = int(wire.first(call.previous, "status.revision", 0)) + 1
    version = str(call.get("version", ""))
    return {
        "name": call.name,
        "namespace": _namespace(call),
        "version": version,
        "resourceNames": {},
        "status": {
            "name": call.name,
            "namespace": _namespace(call),
            "chart": call.get("chart"),
            "version": version,
            "appVersion": version,
            "revision": revision,
            "status": "deployed",
        },
    }


_DNS_LABEL = NameRule(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", "1 to 63 of lower-case letters, digits and -")

_RULES = (
    Rule(NAMESPACE, names=_DNS_LABEL, delete=_delete_namespace),
    Rule(VOLUME, create=_create, delete=_delete_volume, outputs=_volume_outputs),
    Rule(CLAIM, create=_bind, delete=_release),
    Rule(
        RELEASE,
        names=NameRule(
            r"[a-z0-9]([-a-z0-9.]{0,51}[a-z0-9])?", "1 to 53 of lower-case letters, digits, - and ."
        ),
        check=_check_release,
        create=_create,
        outputs=_release_outputs,
    ),
)


class _Rules(dict[str, Rule]):
    """Every kind has one rule at least: its namespace must exist. A list of kinds would be out of date."""

    def __missing__(self, token: str) -> Rule:
        return Rule(token, create=_create)

    def get(self, token: str, default: Any = None) -> Any:  # noqa: ARG002 - dict's own signature
        """The rule of a token, made up where there is none of its own."""
        return self[token]


CLOUD = Cloud(
    package="kubernetes",
    rules=_Rules(by_token(_RULES)),
    account=_account,
    reachable=_reachable,
    naming=KUBERNETES,
    id=_id,
    outputs=_outputs,
    handles=lambda call, _outputs: [call.id],
    conflict=lambda call: f'{_kind(call).lower()}s "{call.name}" already exists',
    gone='"{id}" not found',
    immutable="{path}: field is immutable",
    stockout="0/0 nodes are available: {sku} in {where}",
    quota="exceeded quota: {sku} in {where}",
    throttled="client rate limiter Wait returned an error: context deadline exceeded",
    timeout=_WAITED,
)
