"""Runs a Pulumi program offline and records what it registers: no engine, no plugin, no credential.

The program sees what it would see in a preview: inputs echo back, what a cloud computes is unknown.
With `computed` it runs as an update, every ID known: what tests need that look behind an unknown. With
`known` it runs as a preview of a stack that exists: what the state knows is known, the rest is not.

The SDK's own wait for outstanding registrations takes time that grows with the square of their number
(`pulumi.runtime.stack.wait_for_rpcs`), and hands each to a thread. Here one event loop answers in place and
gathers, so the time grows with the number.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime import rpc, settings
from pulumi.runtime.proto import engine_pb2, resource_pb2
from pulumi.runtime.stack import Stack, massage

__all__ = ["UNKNOWN", "Recording", "Registered", "record"]

UNKNOWN: Final = rpc.UNKNOWN
"""What stands in recorded inputs for a value that only the cloud can tell."""

Computed = Callable[["Registered"], Mapping[str, Any]]
Known = Callable[["Registered"], tuple[str, Mapping[str, Any]] | None]

_FEATURES: Final = (
    resource_pb2.RESOURCE_MONITOR_FEATURE_SECRETS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES,
    resource_pb2.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
    resource_pb2.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """One resource as the engine would have been asked for it.

    Attributes:
        type: Type token, such as `aws:eks/cluster:Cluster`.
        name: Logical name.
        urn: As the engine would build it.
        custom: False for components.
        inputs: Plain data, keys as the provider spells them; secrets unwrapped, unknowns as `UNKNOWN`.
        secrets: Top-level inputs that hold a secret.
        parent: URN of the parent.
        provider: URN of the explicit provider, empty where the default one would serve.
        dependencies: URNs of everything it waits for.
        property_dependencies: By top-level input, the URNs that its value comes from.

    The remaining attributes are the resource options of the same names.
    """

    type: str
    name: str
    urn: str
    custom: bool
    inputs: dict[str, Any]
    secrets: frozenset[str] = frozenset()
    parent: str = ""
    provider: str = ""
    dependencies: tuple[str, ...] = ()
    property_dependencies: dict[str, tuple[str, ...]] = field(default_factory=dict)
    protect: bool = False
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    delete_before_replace: bool = False
    retain_on_delete: bool = False
    deleted_with: str = ""
    aliases: tuple[str, ...] = ()
    additional_secret_outputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What a program registered, in order, with each component's and the stack's outputs."""

    resources: tuple[Registered, ...]
    outputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    stack_outputs: dict[str, Any] = field(default_factory=dict)
    messages: tuple[str, ...] = ()

    def of_type(self, token: str) -> tuple[Registered, ...]:
        """The resources of one type."""
        return tuple(resource for resource in self.resources if resource.type == token)

    def named(self, name: str) -> Registered:
        """The one resource with this logical name.

        Raises:
            KeyError: There is none, or more than one.
        """
        found = [resource for resource in self.resources if resource.name == name]
        if len(found) != 1:
            raise KeyError(f"{len(found)} resources are named {name!r}")
        return found[0]


def record(
    program: Callable[[], Any],
    *,
    project: str = "gpuplatform",
    stack: str = "test",
    computed: Computed | None = None,
    known: Known | None = None,
) -> Recording:
    """Runs `program` and returns what it registered.

    Args:
        program: Creates resources, as a Pulumi program's body does.
        project: The Pulumi project's name.
        stack: The stack's name.
        computed: What the cloud would compute for a resource (`arn`, `endpoint` ...). Given, the program runs
            as an update with every ID known; left out, as a preview.
        known: For a preview, the ID and outputs of a resource that exists and stays; None where it is new.
            Called when the resource is registered, before anything that waits for it.

    Raises:
        Exception: Whatever the program raises, unchanged; and a RuntimeError where it calls a provider
            function with known inputs, since nothing answers offline; with `known`, the answer is unknown.
    """
    # A context of its own: Pulumi keeps its settings in context variables, so recordings never meet.
    return contextvars.copy_context().run(_record, program, project, stack, computed, known)


def _record(
    program: Callable[[], Any], project: str, stack: str, computed: Computed | None, known: Known | None
) -> Recording:
    monitor = _Monitor(project, stack, computed, known)
    settings.configure(
        settings.Settings(
            project=project,
            stack=stack,
            monitor=monitor,
            engine=monitor,
            dry_run=computed is None,
            parallel=1,
        )
    )
    settings.SETTINGS.monitor_features = set(_FEATURES)
    settings.set_root_resource(None)  # type: ignore[arg-type]  # a context may be copied from one that ran before
    loop = _InlineLoop()
    # A failed registration fails whatever waits for it too: the first error is raised, its echoes not logged.
    loop.set_exception_handler(lambda *_: None)
    collected = gc.isenabled()
    gc.disable()  # every output stays alive until the end: collections would scan ever more and free nothing
    try:
        loop.run_until_complete(_drive(program))
    finally:
        if collected:
            gc.enable()
        loop.run_until_complete(_drop_tasks())
        loop.close()
    return monitor.recording()


class _InlineLoop(asyncio.SelectorEventLoop):
    """Answers "executor" work in place: the monitor is plain memory, a thread would only cost."""

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:  # type: ignore[override]
        del executor
        answer = self.create_future()
        try:
            answer.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever awaits the answer
            answer.set_exception(error)
        return answer


async def _drive(program: Callable[[], Any]) -> None:
    root = Stack()
    program()
    root.register_outputs(massage(root.outputs, []))
    manager = settings.SETTINGS.rpc_manager
    while manager.rpcs or settings.SETTINGS.outputs:
        calls, manager.rpcs = list(manager.rpcs), []
        outputs = list(settings.SETTINGS.outputs)
        settings.SETTINGS.outputs.clear()
        await asyncio.gather(*calls, return_exceptions=True)
        if manager.unhandled_exception is not None:
            raise manager.unhandled_exception
        await asyncio.gather(*outputs)


async def _drop_tasks() -> None:
    """After a failure, tasks that wait for the failed resource would warn at exit."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class _Monitor:
    """Stands for the engine's resource monitor and its log; the method names are the protocol's."""

    def __init__(self, project: str, stack: str, computed: Computed | None, known: Known | None) -> None:
        self._prefix = f"urn:pulumi:{stack}::{project}::"
        self._computed = computed
        self._known = known
        self._resources: dict[str, Registered] = {}
        self._outputs: dict[str, dict[str, Any]] = {}
        self._stack_urn = ""
        self._messages: list[str] = []

    def recording(self) -> Recording:
        return Recording(
            resources=tuple(self._resources.values()),
            outputs={urn: values for urn, values in self._outputs.items() if urn != self._stack_urn},
            stack_outputs=self._outputs.get(self._stack_urn, {}),
            messages=tuple(self._messages),
        )

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - gRPC's name
        urn = self._urn(request.parent, request.type, request.name)
        if request.type == "pulumi:pulumi:Stack":
            self._stack_urn = urn
            return resource_pb2.RegisterResourceResponse(urn=urn)
        if urn in self._resources:
            raise RuntimeError(f"two resources have the URN {urn}")
        resource = _registered(urn, request)
        self._resources[urn] = resource
        response = resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)
        if self._computed is not None and request.custom:
            response.id = f"{request.name}-id"
            values = dict(self._computed(resource))
            response.id = values.pop("id", response.id)
            _merge(response.object, values)
        if self._known is not None and request.custom and (found := self._known(resource)) is not None:
            response.id, outputs = found
            _merge(response.object, {key: outputs[key] for key in outputs if key != "id"})
        return response

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - gRPC's name
        self._outputs[request.urn] = {key: _plain(value) for key, value in request.outputs.fields.items()}
        return empty_pb2.Empty()

    def Invoke(self, request: Any) -> Any:  # noqa: N802 - gRPC's name
        del request  # whatever it asks is asked of a cloud, and an offline plan has none
        return resource_pb2.ResourceInvokeResponse(unknown=True)

    def Log(self, request: Any) -> Any:  # noqa: N802 - gRPC's name
        if request.severity >= engine_pb2.INFO:
            self._messages.append(request.message)
        return empty_pb2.Empty()

    def _urn(self, parent: str, type_: str, name: str) -> str:
        if parent and not parent.endswith(self._stack_urn.rsplit("::", 1)[-1]):
            type_ = f"{parent.split('::')[2]}${type_}"
        return f"{self._prefix}{type_}::{name}"


def _merge(into: struct_pb2.Struct, values: Mapping[str, Any]) -> None:
    merged = struct_pb2.Struct()
    merged.update(dict(values))
    for key, value in merged.fields.items():
        into.fields[key].CopyFrom(value)


def _registered(urn: str, request: Any) -> Registered:
    inputs = {key: _plain(value) for key, value in request.object.fields.items()}
    return Registered(
        type=request.type,
        name=request.name,
        urn=urn,
        custom=request.custom,
        inputs=inputs,
        secrets=frozenset(key for key, value in request.object.fields.items() if _is_secret(value)),
        parent=request.parent,
        provider=request.provider.rsplit("::", 1)[0],
        dependencies=tuple(sorted(request.dependencies)),
        # The SDK keeps them in sets, whose order differs from run to run.
        property_dependencies={
            key: tuple(sorted(value.urns)) for key, value in request.propertyDependencies.items()
        },
        protect=request.protect,
        ignore_changes=tuple(request.ignoreChanges),
        replace_on_changes=tuple(request.replaceOnChanges),
        delete_before_replace=request.deleteBeforeReplace,
        retain_on_delete=request.retainOnDelete,
        deleted_with=request.deletedWith,
        aliases=tuple(alias.urn or alias.spec.name for alias in request.aliases),
        additional_secret_outputs=tuple(request.additionalSecretOutputs),
    )


def _plain(value: Any) -> Any:
    match value.WhichOneof("kind"):
        case "struct_value":
            fields = value.struct_value.fields
            if rpc._special_sig_key in fields:  # noqa: SLF001 - the wire format's own marker
                return _special(fields)
            return {key: _plain(inner) for key, inner in fields.items()}
        case "list_value":
            return [_plain(inner) for inner in value.list_value.values]
        case "string_value":
            return value.string_value
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return value.bool_value
        case _:
            return None


def _special(fields: Any) -> Any:
    """A secret's value, an asset's text, or a resource reference's URN."""
    for key in ("value", "text", "urn", "path", "uri"):
        if key in fields:
            return _plain(fields[key])
    return UNKNOWN


def _is_secret(value: Any) -> bool:
    match value.WhichOneof("kind"):
        case "struct_value":
            fields = value.struct_value.fields
            signature = fields[rpc._special_sig_key].string_value if rpc._special_sig_key in fields else ""  # noqa: SLF001
            return signature == rpc._special_secret_sig or any(map(_is_secret, fields.values()))  # noqa: SLF001
        case "list_value":
            return any(map(_is_secret, value.list_value.values))
        case _:
            return False
