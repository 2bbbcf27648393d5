"""What the packs cost a resource, against thirty policies of one rule each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf import struct_pb2
from measure import ROOT, Ratio, inside, paired
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, ResourceValidationPolicy
from pulumi_policy import policy as sdk

from gpuplatform import catalog, clock
from gpuplatform.config import find_project, from_file
from gpuplatform.plan.recorder import Registered, record
from gpuplatform.platform import decide
from gpuplatform.platform.build import build
from gpuplatform.policy import pack as gpu
from gpuplatform.policy import policies as gpu_policies
from gpuplatform.policy import security
from gpuplatform.policy.serving import Pack, servicer
from gpuplatform.policy.session import Session

RESOURCES, RULES = 1_000, 30


def pack_against_one_rule_policies() -> Iterator[Ratio]:
    """Resource and stack policies over a thousand resources of the largest sample's own kinds."""
    resources = _resources()
    yield paired(
        f"policies/gpu over {RESOURCES} resources / {RULES} one-rule policies",
        inside(lambda: _run(_gpu(), resources)),
        inside(lambda: _run(_plain(), resources)),
        goal=0.25,
    )
    yield paired(
        f"policies/security over {RESOURCES} resources / {RULES} one-rule policies",
        inside(lambda: _run(_security(), resources)),
        inside(lambda: _run(_plain(), resources)),
        goal=0.25,
    )


def _resources() -> list[Any]:
    decision = decide(from_file(find_project(ROOT), "aws-prod"), catalog.load(), clock.today())
    registered = [r for r in record(lambda: build(decision)).resources if r.custom]
    return [_message(registered[index % len(registered)], index) for index in range(RESOURCES)]


def _message(resource: Registered, index: int) -> Any:
    properties = struct_pb2.Struct()
    properties.update(resource.inputs)
    provider = analyzer_pb2.AnalyzerProviderResource(type="pulumi:providers:aws", urn="urn:p", name="p")
    provider.properties.update({"region": "us-east-1"})
    return analyzer_pb2.AnalyzerResource(
        type=resource.type,
        urn=f"{resource.urn}-{index}",
        name=resource.name,
        provider=provider,
        properties=properties,
    )


def _gpu() -> Any:
    session = Session(gpu.POLICY_NAMES)
    return _served(gpu.PACK, session, gpu_policies.policies(session))


def _security() -> Any:
    operation = security.SecurityOperation()
    return _served(security.PACK, operation, security.policies(operation))


def _served(pack: Pack, operation: Any, policies: Sequence[Any]) -> Any:
    service = servicer(pack, operation)(pack.name, "0", list(policies), EnforcementLevel.MANDATORY)
    service.ConfigureStack(
        analyzer_pb2.AnalyzerStackConfigureRequest(stack="s", project="p", dry_run=True), None
    )
    return service


def _plain() -> Any:
    def check(args: Any, report: Any) -> None:
        if args.resource_type == "aws:eks/nodeGroup:NodeGroup" and "amiType" not in args.props:
            report("a node group names its image")

    rules = [
        ResourceValidationPolicy(name=f"rule-{n}", description="one rule", validate=check)
        for n in range(RULES)
    ]
    return sdk._PolicyAnalyzerServicer("plain", "0", rules, EnforcementLevel.MANDATORY)  # noqa: SLF001


def _run(service: Any, resources: list[Any]) -> None:
    for resource in resources:
        service.Analyze(
            analyzer_pb2.AnalyzeRequest(
                type=resource.type,
                urn=resource.urn,
                name=resource.name,
                provider=resource.provider,
                properties=resource.properties,
            ),
            None,
        )
    service.AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=resources), None)
