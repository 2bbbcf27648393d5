"""From a decision to resources: the one composition that all three clouds share."""

from __future__ import annotations

from importlib import import_module

import pulumi

from gpuplatform.platform.built import Built
from gpuplatform.platform.decision import Decision
from gpuplatform.platform.software import install

__all__ = ["build"]


def build(decision: Decision) -> Built:
    """Registers everything that the decision's configuration asks for, and exports the stack's outputs.

    Raises:
        GuardrailError: A mandatory verdict fails. This comes before the first resource, so that
            `pulumi up --skip-preview` without any policy pack cannot spend either.
    """
    decision.check()
    for subject, sentence in decision.preconditions:
        # What no program can do or look up; a deployment that lacks it fails late, or never gets a node.
        pulumi.log.warn(f"{subject}: {sentence}")
    provider = decision.config.cloud.provider
    built: Built = import_module(f"gpuplatform.platform.{provider}").build(decision)
    install(decision, built)
    pulumi.export("cluster_name", built.cluster.name)
    pulumi.export("cluster_id", built.cluster.id)
    pulumi.export("endpoint", built.cluster.endpoint)
    pulumi.export("oidc_issuer", built.cluster.oidc_issuer)
    pulumi.export("kubeconfig_command", built.cluster.kubeconfig_command)
    if built.storage:
        pulumi.export("storage", {name: handle.uri for name, handle in built.storage.items()})
    pulumi.export("kubeconfig", pulumi.Output.secret(built.cluster.kubeconfig))
    return built
