"""What every pack does: the engine's calls that it takes before the SDK does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, Policy, PolicyPack, ReportViolation
from pulumi_policy import policy as sdk

from gpuplatform import __version__
from gpuplatform.config import KEY
from gpuplatform.guardrails import Status
from gpuplatform.policy.operation import Operation, StackConfig

__all__ = ["Pack", "serve", "servicer", "tell"]

_DESCRIPTION: Final = "The policy pack's configuration can be read."


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """What tells one pack from another.

    Attributes:
        name: The pack's name.
        display_name: What it is called.
        description: What it checks.
        watcher: The resource policy that sees every input, and that others depend on.
        concerns: Whether a type matters; asked before any property is read.
        reads_outputs: Whether a stack policy reads the resources again.
    """

    name: str
    display_name: str
    description: str
    watcher: str
    concerns: Callable[[str], bool]
    reads_outputs: bool


def servicer(pack: Pack, operation: Operation[Any]) -> Any:
    """The SDK's analyzer service, which also tells `operation` what the engine configures.

    pulumi-policy 1.21 keeps the configuration of one policy from the others, and drops the stack's
    configuration and whether this is a preview, although the engine sends both (policy.py, Configure and
    ConfigureStack; since engine 3.221 the pack's environment has neither). A test drives both calls
    through this class, so a release that renames them is noticed.
    """

    class Servicer(sdk._PolicyAnalyzerServicer):  # noqa: SLF001 - see above
        def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
            told = analyzer_pb2.ConfigureAnalyzerRequest()
            told.CopyFrom(request)
            silent = pack.watcher in told.policyConfig and (
                told.policyConfig[pack.watcher].enforcementLevel == analyzer_pb2.DISABLED
            )
            if silent:
                # It runs all the same and says nothing: the stack policies need the inputs that only it sees.
                told.policyConfig[pack.watcher].enforcementLevel = analyzer_pb2.ADVISORY
            operation.configure(
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
            operation.configure_stack(stack, previewing=request.dry_run)
            return super().ConfigureStack(request, context)

        # The SDK reads all properties of a resource anew for each policy, whether the policy looks at them or
        # not. What no rule reads is left out before that: most of a stack.
        def Analyze(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
            if operation.wrong is not None:
                return _refusal(pack, operation)
            if not pack.concerns(request.type):
                return analyzer_pb2.AnalyzeResponse()
            return super().Analyze(request, context)  # type: ignore[no-untyped-call]

        def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
            if operation.wrong is not None:
                return _refusal(pack, operation)
            resources = request.resources if pack.reads_outputs else ()
            concerned = [resource for resource in resources if pack.concerns(resource.type)]
            return super().AnalyzeStack(analyzer_pb2.AnalyzeStackRequest(resources=concerned), context)  # type: ignore[no-untyped-call]

    return Servicer


def serve(pack: Pack, operation: Operation[Any], policies: Sequence[Policy]) -> None:
    """Serves the pack to the engine that started this process; returns when the engine ends it."""
    sdk._PolicyAnalyzerServicer = servicer(pack, operation)  # type: ignore[misc]  # noqa: SLF001 - see `servicer`
    PolicyPack(
        name=pack.name,
        policies=list(policies),
        enforcement_level=EnforcementLevel.MANDATORY,
        description=pack.description,
        display_name=pack.display_name,
    )


class Said(Protocol):
    """A pack's word on one subject: a guardrail's verdict, or a security rule's finding."""

    @property
    def sentence(self) -> str: ...
    @property
    def status(self) -> Status: ...
    @property
    def where(self) -> str: ...


def tell(report: ReportViolation, words: Iterable[Said]) -> None:
    """Reports each once; what could not be evaluated says so."""
    for word in dict.fromkeys(words):
        sentence = word.sentence
        if word.status is Status.NOT_EVALUATED:
            sentence = f"not evaluated: {sentence}"
        report(sentence, word.where or None)


def _refusal(pack: Pack, operation: Operation[Any]) -> analyzer_pb2.AnalyzeResponse:
    """What is wrong with the configuration: once an operation, and mandatory whatever the policies' levels.

    A configuration that cannot be read may have meant a limit; levels are for what breaks one.
    """
    if operation.wrong is None or operation.refused:
        return analyzer_pb2.AnalyzeResponse()
    operation.refused = True
    diagnostic = analyzer_pb2.AnalyzeDiagnostic(
        policyName=pack.watcher,
        policyPackName=pack.name,
        policyPackVersion=__version__,
        description=_DESCRIPTION,
        message=f"{_DESCRIPTION}\n{operation.wrong}",
        enforcementLevel=analyzer_pb2.MANDATORY,
    )
    return analyzer_pb2.AnalyzeResponse(diagnostics=[diagnostic])
