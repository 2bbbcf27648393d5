"""One simulated provider: the engine's requests, answered from a `Cloud` and its `Backend`."""

# The methods' names and arguments are those of the engine's protocol.
# ruff: noqa: ARG002, N802

from __future__ import annotations

import copy
import importlib.metadata
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from gpuplatform.replacement import Change, changes, replacement, replaces, without_version
from gpuplatform.sandbox import sdk_source, sdk_types
from gpuplatform.sandbox.cloud import outputs, wire
from gpuplatform.sandbox.cloud.backend import Backend
from gpuplatform.sandbox.cloud.faults import Faults
from gpuplatform.sandbox.cloud.names import NAME_DIGITS
from gpuplatform.sandbox.cloud.rule import Account, Call, Cloud, CloudError, Rule
from gpuplatform.sandbox.cloud.world import World
from gpuplatform.sandbox.sdk_types import Problem

__all__ = ["Provider"]


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """Serves one cloud. Outlives the engine: each operation configures it anew.

    Every provider resource of a program (two regions, a cluster each) configures the same server; requests do
    not say whose they are. But the engine dials once for each, so the connection tells them apart.
    """

    def __init__(self, cloud: Cloud, world: World, faults: Faults) -> None:
        self._cloud = cloud
        self._world = world
        self._faults = faults
        self._backend = Backend(cloud, world)
        self._accounts: dict[str, Account] = {}
        self._newest = cloud.account({}, world)

    # The provider itself

    def Handshake(self, request: Any, context: Any) -> Any:
        """Accepts secrets and resources; outputs come as plain values, as for the real ones."""
        return provider_pb2.ProviderHandshakeResponse(
            accept_secrets=True, accept_resources=True, supports_autonaming_configuration=True
        )

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        """The version of the installed SDK: the API that is simulated."""
        return plugin_pb2.PluginInfo(version=_sdk_version(self._cloud.package))

    def GetSchema(self, request: Any, context: Any) -> Any:
        """None: programs bring their SDK."""
        return provider_pb2.GetSchemaResponse(schema="{}")

    def CheckConfig(self, request: Any, context: Any) -> Any:
        """The provider's own inputs against the SDK."""
        news = wire.to_dict(request.news)
        problems = sdk_types.check(f"pulumi:providers:{self._cloud.package}", news)
        return _checked(news, list(problems))

    def DiffConfig(self, request: Any, context: Any) -> Any:
        """Replaces a Kubernetes provider when it moves to another cluster, never for a new kubeconfig."""
        old = wire.plain(wire.to_dict(request.old_inputs or request.olds))
        new = wire.plain(wire.to_dict(request.news))
        changed = list(changes(old, new))
        moved = [c.path for c in changed if c.path == "clusterIdentifier"]
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE,
            diffs=[c.path for c in changed],
            replaces=moved,
        )

    def Configure(self, request: Any, context: Any) -> Any:
        """Remembers the account for this connection."""
        config = wire.plain(wire.to_dict(request.args))
        self._newest = self._cloud.account(config, self._world)
        self._accounts[context.peer()] = self._newest
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True,
            acceptResources=True,
            supportsPreview=True,
            supports_autonaming_configuration=True,
        )

    def Attach(self, request: Any, context: Any) -> Any:
        """The engine says hello to a debugged provider."""
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        """Nothing runs long enough to be cancelled."""
        return empty_pb2.Empty()

    def GetMapping(self, request: Any, context: Any) -> Any:
        """None."""
        return provider_pb2.GetMappingResponse()

    def Invoke(self, request: Any, context: Any) -> Any:
        """A function of the cloud."""
        function = self._cloud.invokes.get(request.tok)
        if function is None:
            simulated = ", ".join(sorted(self._cloud.invokes)) or "none"
            return _failed(f"the sandbox does not simulate the function {request.tok}; it has {simulated}")
        try:
            found = function(self._account(context), wire.plain(wire.to_dict(request.args)), self._world)
        except CloudError as error:
            return _failed(str(error))
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(wire.to_struct(found))
        return response

    # Resources

    def Check(self, request: Any, context: Any) -> Any:
        """Names what has no name, and refuses what the provider or its schema refuses, in preview."""
        news, olds = wire.to_dict(request.news), wire.to_dict(request.olds)
        token, rule = _token(request), self._cloud.rule(_token(request))
        path = self._name_path(token)
        if path:
            self._name(request, token, path, news, olds)
        problems = list(sdk_types.check(token, news))
        if not problems:
            call = self._call(request, context, news)
            problems = [*_name_problems(rule, path, call.name), *(rule.check(call) if rule.check else ())]
        return _checked(news, problems)

    def Diff(self, request: Any, context: Any) -> Any:
        """Property by property, with what forces a replacement."""
        token = _token(request)
        olds = wire.to_dict(request.old_inputs or request.olds)
        found = list(changes(wire.plain(olds), wire.plain(wire.to_dict(request.news))))
        path = self._name_path(token)
        replaced = [c for c in found if replaces(token, c, path)]
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if found else provider_pb2.DiffResponse.DIFF_NONE,
            diffs=sorted({_top(c.path) for c in found}),
            replaces=sorted({_top(c.path) for c in replaced}),
            detailedDiff={c.path: _property_diff(c, replaces=c in replaced) for c in found},
            hasDetailedDiff=True,
            # With a name of the program's own, the new one could not exist beside the old one.
            deleteBeforeReplace=bool(
                replaced
                and path
                and not any(c.path == path for c in replaced)
                and not self._cloud.naming.marked(olds, path)
            ),
        )

    def Create(self, request: Any, context: Any) -> Any:
        """Makes it exist, or says what it would look like."""
        wired = wire.to_dict(request.properties)
        call = self._call(request, context, wired)
        if request.preview:
            return provider_pb2.CreateResponse(
                properties=wire.to_struct(outputs.in_preview(self._cloud, call, wired))
            )
        try:
            self._backend.reach(call.account)
            self._faults.before_create(self._cloud, call)
            with self._world.transaction():
                call, made = self._backend.make(call, wired)
            self._faults.after_create(self._cloud, call)
        except CloudError as error:
            _abort(context, f"creating {call.token} {call.name or call.logical}", error)
        return provider_pb2.CreateResponse(id=call.id, properties=wire.to_struct(made))

    def Read(self, request: Any, context: Any) -> Any:
        """The world's truth: drift is seen, what is gone is gone."""
        account = self._account(context)
        try:
            self._backend.reach(account)
        except CloudError as error:
            _abort(context, f"reading {request.id}", error)
        thing = self._backend.thing(account, _token(request), request.id)
        if thing is None:
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(
            id=thing.id, properties=wire.to_struct(thing.outputs), inputs=wire.to_struct(thing.inputs)
        )

    def Update(self, request: Any, context: Any) -> Any:
        """Changes it in place, or says what it would look like."""
        wired = wire.to_dict(request.news)
        call = replace(self._call(request, context, wired), id=request.id)
        if request.preview:
            olds = wire.to_dict(request.olds)
            set_before = wire.to_dict(request.old_inputs)
            planned = {k: v for k, v in olds.items() if k not in set_before}
            shown = outputs.in_preview(self._cloud, call, wired)
            planned |= {
                key: _with_inner(value, olds.get(key), set_before.get(key)) for key, value in shown.items()
            }
            planned |= _kept(olds, wired, planned)
            planned |= dict.fromkeys(replacement(call.token).recomputed, wire.UNKNOWN)
            return provider_pb2.UpdateResponse(properties=wire.to_struct(planned))
        try:
            self._backend.reach(call.account)
            with self._world.transaction():
                changed = self._backend.change(call, wired)
        except CloudError as error:
            _abort(context, f"updating {call.token} {call.name or request.id}", error)
        return provider_pb2.UpdateResponse(properties=wire.to_struct(changed))

    def Delete(self, request: Any, context: Any) -> Any:
        """Removes it, and what goes with it; one that is gone already is no error."""
        account = self._account(context)
        try:
            self._backend.reach(account)
            with self._world.transaction():
                thing = self._backend.thing(account, _token(request), request.id)
                if thing:
                    self._backend.remove(thing, account)
        except CloudError as error:
            _abort(context, f"deleting {_token(request)} {request.id}", error)
        return empty_pb2.Empty()

    # How

    def _account(self, context: Any) -> Account:
        return self._accounts.get(context.peer(), self._newest)

    def _name_path(self, token: str) -> str:
        known = replacement(token).name
        if known is not None:
            return known
        found = sdk_source.resource_type(without_version(token))
        return self._cloud.naming.input(token, found.inputs if found else {})

    def _call(self, request: Any, context: Any, wired: Mapping[str, Any]) -> Call:
        inputs = wire.plain(wired)
        token = _token(request)
        path = self._name_path(token)
        name = wire.first(inputs, path, "") if path else ""
        return Call(
            token=token,
            urn=request.urn,
            inputs=inputs,
            account=self._account(context),
            world=self._world,
            name=str(name),
        )

    def _name(
        self, request: Any, token: str, path: str, news: dict[str, Any], olds: Mapping[str, Any]
    ) -> None:
        given = _reach_in(news, path)
        if given is not None:
            return
        naming = self._cloud.naming
        old = wire.first(wire.plain(olds), path)
        if old is not None and naming.marked(olds, path):
            name = old
        elif request.HasField("autonaming") and request.autonaming.proposed_name:
            name = request.autonaming.proposed_name
        else:
            found = sdk_source.resource_type(without_version(token))
            seed = request.randomSeed.hex() or os.urandom(16).hex()
            digits = wire.digest(seed, request.urn, length=NAME_DIGITS)
            logical = request.urn.rpartition("::")[2]
            name = naming.make(token, found.inputs if found else {}, logical, digits)
            name = f"{self._cloud.rule(token).prefix}{name}"
        head, _, leaf = path.rpartition(".")
        if head:
            news[head] = copy.deepcopy(news.get(head) or {})
            if not isinstance(news[head], dict):
                return
            news[head][leaf] = name
        else:
            news[leaf] = name
        naming.mark(news, path)


def _kept(olds: Mapping[str, Any], wired: Mapping[str, Any], computed: Mapping[str, Any]) -> dict[str, Any]:
    """Computed outputs keep their value over an update, unless the program now sets them."""
    return {key: olds[key] for key in computed if key not in wired}


def _with_inner(value: Any, old: Any, before: Any) -> Any:
    """What the program sets, with what the cloud has added inside of it; what it set `before` may be gone.

    An issuer's URL stands beside the switch that turns it on, an address beside the network that it is in: an
    update that says nothing of them leaves them as they are.
    """
    if isinstance(value, Mapping) and isinstance(old, Mapping) and sdk_types.SIGNATURE not in value:
        own = before if isinstance(before, Mapping) else {}
        added = {key: inner for key, inner in old.items() if key not in value and key not in own}
        inside = {key: _with_inner(inner, old.get(key), own.get(key)) for key, inner in value.items()}
        return {**added, **inside}
    if isinstance(value, list) and isinstance(old, list) and len(value) == len(old):
        own_list = before if isinstance(before, list) and len(before) == len(old) else [None] * len(old)
        return [_with_inner(*three) for three in zip(value, old, own_list, strict=True)]
    return value


def _token(request: Any) -> str:
    token: str = request.type or request.urn.split("::")[2].rpartition("$")[2]
    return token


def _top(path: str) -> str:
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _reach_in(values: Any, path: str) -> Any:
    """The raw value at a path without lists: also an unknown one, which counts as given."""
    for part in path.split("."):
        values = sdk_types.unwrapped(values)
        values = values.get(part) if isinstance(values, Mapping) else values
    return values


def _name_problems(rule: Rule, path: str, name: str) -> Iterator[Problem]:
    if rule.names and name and name != wire.UNKNOWN and not re.fullmatch(rule.names.pattern, name):
        yield Problem(path, f"{name!r} is no valid name: {rule.names.says}")


def _checked(news: Mapping[str, Any], problems: list[Problem]) -> Any:
    failures = [provider_pb2.CheckFailure(property=p.path, reason=p.message) for p in problems]
    return provider_pb2.CheckResponse(inputs=wire.to_struct(news), failures=failures)


def _failed(reason: str) -> Any:
    return provider_pb2.InvokeResponse(failures=[provider_pb2.CheckFailure(reason=reason)])


def _property_diff(change: Change, *, replaces: bool) -> Any:
    kind = f"{change.kind}_REPLACE" if replaces else change.kind
    return provider_pb2.PropertyDiff(kind=provider_pb2.PropertyDiff.Kind.Value(kind), inputDiff=True)


def _abort(context: Any, doing: str, error: CloudError) -> NoReturn:
    context.abort(grpc.StatusCode.UNKNOWN, f"{doing}: {error}")
    raise AssertionError("abort raises")


def _sdk_version(package: str) -> str:
    try:
        return importlib.metadata.version(sdk_source.PACKAGES[package])
    except importlib.metadata.PackageNotFoundError:
        return "0.0.0"
