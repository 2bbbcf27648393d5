"""Kubernetes API servers that the whole internet can reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpuplatform.guardrails import Unknown
from gpuplatform.guardrails.resources import props
from gpuplatform.security.finding import Case, Finding
from gpuplatform.security.read import mappings, on, texts_at, to_everyone

__all__ = ["READERS"]

_MESSAGE: Final = "the whole internet may reach the Kubernetes API server"


def _eks(case: Case) -> Iterator[Finding]:
    """Public and for everybody unless one says otherwise.

    https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html
    """
    source = case.raw.props
    public = on(source, "vpcConfig", "endpointPublicAccess")
    if public is False:
        return
    ranges, unknown = texts_at(source, "vpcConfig", "publicAccessCidrs")
    if any(map(to_everyone, ranges)) or not (ranges or unknown):
        if isinstance(public, Unknown):
            yield case.undecided("open-api-server", public)
        else:
            yield case.fail(
                "open-api-server", _MESSAGE, "vpcConfig.publicAccessCidrs, or endpointPublicAccess: false"
            )
    elif unknown:
        yield case.undecided("open-api-server", unknown)


def _aks(case: Case) -> Iterator[Finding]:
    """Public and for everybody unless one says otherwise.

    https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges
    """
    profile = props.value(case.raw.props, "apiServerAccessProfile")
    if isinstance(profile, Unknown):
        yield case.undecided("open-api-server", profile)
        return
    private = on(profile, "enablePrivateCluster")
    if private is True:
        return
    ranges, unknown = texts_at(profile, "authorizedIPRanges")
    if any(map(to_everyone, ranges)) or not (ranges or unknown):
        if isinstance(private, Unknown):
            yield case.undecided("open-api-server", private)
        else:
            way_out = "apiServerAccessProfile: authorizedIPRanges, or enablePrivateCluster"
            yield case.fail("open-api-server", _MESSAGE, way_out)
    elif unknown and not ranges:
        yield case.undecided("open-api-server", unknown)


def _gke(case: Case) -> Iterator[Finding]:
    """Public and for everybody unless one says otherwise.

    https://cloud.google.com/kubernetes-engine/docs/concepts/network-isolation
    """
    source = case.raw.props
    if on(source, "privateClusterConfig", "enablePrivateEndpoint") is True:
        return
    if on(source, "controlPlaneEndpointsConfig", "ipEndpointsConfig", "enabled") is False:
        return
    networks = props.value(source, "masterAuthorizedNetworksConfig")
    if isinstance(networks, Unknown):
        yield case.undecided("open-api-server", networks)
        return
    blocks, unknown = mappings(networks, "cidrBlocks")
    ranges = [props.text(block, "cidrBlock") for block in blocks]
    way_out = "masterAuthorizedNetworksConfig.cidrBlocks, or privateClusterConfig.enablePrivateEndpoint"
    if networks is None or any(isinstance(one, str) and to_everyone(one) for one in ranges):
        yield case.fail("open-api-server", _MESSAGE, way_out)
    elif on(networks, "gcpPublicCidrsAccessEnabled") is True:
        message = "every virtual machine in Google Cloud may reach the Kubernetes API server"
        yield case.fail("open-api-server", message, "gcpPublicCidrsAccessEnabled: false")
    elif unknown := unknown or next((one for one in ranges if isinstance(one, Unknown)), None):
        yield case.undecided("open-api-server", unknown)


READERS: Final = {
    "aws:eks/cluster:Cluster": (_eks,),
    "azure-native:containerservice:ManagedCluster": (_aks,),
    "gcp:container/cluster:Cluster": (_gke,),
}
