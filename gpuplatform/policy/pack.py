"""The pack itself, and the engine's calls that it takes before the SDK does."""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, PolicyPack
from pulumi_policy import policy as sdk

from gpuplatform import __version__
from gpuplatform.config import KEY
from gpuplatform.guardrails import Inventory
from gpuplatform.policy.policies import BUDGET, MACHINE, NOTES, PLACEMENT, policies
from gpuplatform.policy.session import Session
from gpuplatform.policy.settings import StackConfig

__all__ = ["NAME", "POLICY_NAMES", "run", "servicer"]

NAME: Final = "gpuplatform-gpu"
POLICY_NAMES: Final = (MACHINE, PLACEMENT, BUDGET, NOTES)
_DESCRIPTION: Final = "The guardrails' configuration can be read."


def servicer(session: Session) -> Any:
    """The SDK's analyzer service, which also tells `session` what the engine configures.

    pulumi-policy 1.21 keeps the configuration of one policy from the others, and drops the stack's
    configuration and whether this is a preview, although the engine sends both (policy.py, Configure and
    ConfigureStack; since engine 3.221 the pack's environment has neither). A test drives both calls
    through this class, so a release that renames them is noticed.
    """

    class Servicer(sdk._PolicyAnalyzerServicer):  # noqa: SLF001 - see above
        def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
            told = analyzer_pb2.ConfigureAnalyzerRequest()
            told.CopyFrom(request)
            silent = MACHINE in told.policyConfig and (
                told.policyConfig[MACHINE].enforcementLevel == analyzer_pb2.DISABLED
            )
            if silent:
                # It runs all the same and says nothing: the stack policies need the inputs that only it sees.
                told.policyConfig[MACHINE].enforcementLevel = analyzer_pb2.ADVISORY
            session.configure(
                {
                    name: json_format.MessageToDict(config.properties)
                    for name, config in request.policyConfig.items()
                },
                silent=silent,
            )
            return super().Configure(told, context)  # type: ignore[no-untyped-call]

        def ConfigureStack(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
            stack = StackConfig(
                stack=request.stack,
                platform=request.config.get(KEY),
                secret=KEY in request.config_secret_keys,
            )
            session.configure_stack(stack, previewing=request.dry_run)
            return super().ConfigureStack(request, context)

        # The SDK reads all properties of a resource anew for each policy, whether the policy looks at them or
        # not. What no guardrail reads is left out before that: most of a stack.
        def Analyze(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
            if session.wrong is not None:
                return _refusal(session)
            if not Inventory.concerns(request.type):
                return analyzer_pb2.AnalyzeResponse()
            return super().Analyze(request, context)  # type: ignore[no-untyped-call]

        def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
            if session.wrong is not None:
                return _refusal(session)
            concerned = [resource for resource in request.resources if Inventory.concerns(resource.type)]
            return super().AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=concerned), context)  # type: ignore[no-untyped-call]

    return Servicer


def _refusal(session: Session) -> analyzer_pb2.AnalyzeResponse:
    """What is wrong with the configuration: once an operation, and mandatory whatever the policies' levels.

    A configuration that cannot be read may have meant a limit; levels are for what breaks one.
    """
    if session.wrong is None or session.refused:
        return analyzer_pb2.AnalyzeResponse()
    session.refused = True
    diagnostic = analyzer_pb2.AnalyzeDiagnostic(
        policyName=MACHINE,
        policyPackName=NAME,
        policyPackVersion=__version__,
        description=_DESCRIPTION,
        message=f"{_DESCRIPTION}\n{session.wrong}",
        enforcementLevel=analyzer_pb2.MANDATORY,
    )
    return analyzer_pb2.AnalyzeResponse(diagnostics=[diagnostic])


def run() -> None:
    """Serves the pack to the engine that started this process; returns when the engine ends it."""
    session = Session(POLICY_NAMES)
    sdk._PolicyAnalyzerServicer = servicer(session)  # type: ignore[misc]  # noqa: SLF001 - see `servicer`
    PolicyPack(
        name=NAME,
        policies=policies(session),
        enforcement_level=EnforcementLevel.MANDATORY,
        description="GPU machine types, regions, zones and budgets, checked before anything is created.",
        display_name="GPU guardrails",
    )
