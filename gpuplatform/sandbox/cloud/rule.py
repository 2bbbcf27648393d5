"""How a simulated cloud is described: as data where it can be, as small functions where it must.

Each cloud is one `Cloud` with a table of `Rule`s by type token. A type without a rule still works: its inputs
are checked against the SDK, it gets an id, its outputs are its inputs and what the SDK says is always set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpuplatform.replacement import without_version
from gpuplatform.sandbox.cloud import wire

if TYPE_CHECKING:
    from gpuplatform.sandbox.cloud.world import World
    from gpuplatform.sandbox.sdk_source import Property
    from gpuplatform.sandbox.sdk_types import Problem

__all__ = [
    "Account",
    "Call",
    "Cloud",
    "CloudError",
    "NameRule",
    "Naming",
    "Reference",
    "Rule",
    "by_token",
]


class CloudError(Exception):
    """The cloud's own refusal, in its own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """On whose behalf a provider acts.

    Attributes:
        owner: The account, subscription or project id.
        region: The provider's region; empty where the cloud has none.
        scope: Where ids are unique: the owner; for Kubernetes the cluster.
        config: The provider's configuration.
    """

    owner: str
    region: str = ""
    scope: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request about one resource, with plain inputs: wrappers removed, unknowns as their sentinel."""

    token: str
    urn: str
    inputs: Mapping[str, Any]
    account: Account
    world: World
    name: str = ""
    id: str = ""
    created: str = ""
    previous: Mapping[str, Any] = field(default_factory=dict)
    """The outputs before an update; empty on a create."""

    @property
    def logical(self) -> str:
        """The resource's name in the program."""
        return self.urn.rpartition("::")[2]

    @property
    def region(self) -> str:
        """Where it goes: the resource's own region or location, else the provider's."""
        for path in ("region", "location"):
            value = wire.first(self.inputs, path)
            if isinstance(value, str):
                return value
        return self.account.region

    def get(self, path: str, default: Any = None) -> Any:
        """The first known input at a path such as `scalingConfig.minSize`."""
        return wire.first(self.inputs, path, default)


@dataclass(frozen=True, slots=True)
class NameRule:
    """What a physical name may be. The limits that users meet, not all there are."""

    pattern: str
    says: str


@dataclass(frozen=True, slots=True)
class Reference:
    """That an input names another resource, which must exist.

    Attributes:
        path: The input, such as `vpcConfig.subnetIds[]`.
        to: The type named.
        missing: The cloud's error when it does not exist; `{value}` is what was asked for. Empty: not
        checked. holds: The cloud's error when the named one is deleted first; `{id}` is the named one,
        `{by}` this one.
            Empty: it may go first.
        cascades: The cloud deletes this one together with the named one.
        unless: A pattern of values that name something outside the sandbox, such as AWS' own policies.
        value: The handle of the one named, where it takes several inputs to say it; None: the input itself.
    """

    path: str
    to: str
    missing: str = ""
    holds: str = ""
    cascades: bool = False
    unless: str = ""
    value: Callable[[Call], str] | None = None

    def values(self, call: Call) -> list[str]:
        """The handles that a request names by this reference; none where they are unknown."""
        if self.value is not None:
            return [self.value(call)] if any(wire.at(call.inputs, self.path)) else []
        return [value for value in wire.at(call.inputs, self.path) if isinstance(value, str)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What the simulation knows about one type, beyond the SDK's types and `gpuplatform.replacement`.

    Attributes:
        token: The type.
        names: What that name may be.
        prefix: What a made-up name starts with.
        references: What must exist first, and go last.
        machines: Inputs that name machine types, for offerings, retirement, stockout and quota.
        nodes: The input with the number of machines that are started at once; a stockout needs at least one.
        pending: Outputs inside of objects that the program sets in part, unknown until update.
        check: More that the provider refuses in preview.
        create: What the cloud refuses; called inside the transaction that creates.
        update: What the cloud refuses to change, given the inputs so far.
        delete: What the cloud refuses to delete.
        id: The id; None: the cloud's usual one.
        outputs: The outputs beyond the echoed inputs; a function of inputs and id, so reads repeat them.
        handles: By what else it can be named, as (type, value): the type it then counts as.
    """

    token: str = field(kw_only=False)
    names: NameRule | None = None
    prefix: str = ""
    references: tuple[Reference, ...] = ()
    machines: tuple[str, ...] = ()
    nodes: str = ""
    pending: tuple[str, ...] = ()
    check: Callable[[Call], Iterable[Problem]] | None = None
    create: Callable[[Call], None] | None = None
    update: Callable[[Call, Mapping[str, Any]], None] | None = None
    delete: Callable[[Call], None] | None = None
    id: Callable[[Call], str] | None = None
    outputs: Callable[[Call], Mapping[str, Any]] | None = None
    handles: Callable[[Call, Mapping[str, Any]], Iterable[tuple[str, str]]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How a provider makes up physical names (Pulumi's auto-naming).

    Attributes:
        input: The input that names a type without a rule of its own; empty: it has none.
        make: The name from the token, the type's inputs, the logical name and random hexadecimal digits.
        mark: Notes in the inputs that the name was made up, as the real provider does.
        marked: Whether old inputs carry that note.
    """

    input: Callable[[str, Mapping[str, Property]], str]
    make: Callable[[str, Mapping[str, Property], str, str], str]
    mark: Callable[[dict[str, Any], str], None]
    marked: Callable[[Mapping[str, Any], str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """One simulated provider.

    Attributes:
        package: The Pulumi package.
        rules: By token.
        account: The account that a provider's configuration acts for.
        reachable: Raises CloudError where nothing can be asked of that account (a cluster that is gone).
        naming: How physical names are made up.
        id: The id of a type without a rule of its own.
        outputs: Outputs that many types have (`arn`, `selfLink`, `location`); those of the type are taken.
        handles: By what a thing can be named, from its call and outputs.
        normal: One spelling for handles (Azure ignores case, GCP takes links and paths alike).
        conflict: The error when an id is taken.
        gone: The error when a thing to be updated is not there; `{id}`.
        immutable: The error when an immutable input changes; `{path}`.
        offered: Raises CloudError where a machine type cannot be had.
        stockout, quota, throttled, timeout: What the injected faults say; `{sku}`, `{where}`.
        invokes: The functions by token.
    """

    package: str
    rules: Mapping[str, Rule]
    account: Callable[[Mapping[str, Any], World], Account]
    naming: Naming
    id: Callable[[Call], str]
    outputs: Callable[[Call], Mapping[str, Any]]
    handles: Callable[[Call, Mapping[str, Any]], Iterable[str]]
    conflict: Callable[[Call], str]
    gone: str
    immutable: str
    stockout: str
    quota: str
    throttled: str
    timeout: str
    reachable: Callable[[Account, World], None] | None = None
    normal: Callable[[str], str] = str
    offered: Callable[[Call, str], None] | None = None
    invokes: Mapping[str, Callable[[Account, Mapping[str, Any], World], Mapping[str, Any]]] = field(
        default_factory=dict
    )

    def rule(self, token: str) -> Rule:
        """The rule for a token of any API version; one that says nothing where there is none."""
        return self.rules.get(without_version(token)) or Rule(token)


def by_token(rules: Iterable[Rule]) -> dict[str, Rule]:
    """The rules as a table; a token twice is a bug of ours."""
    table: dict[str, Rule] = {}
    for rule in rules:
        if rule.token in table:
            raise ValueError(f"two rules for {rule.token}")
        table[rule.token] = rule
    return table
