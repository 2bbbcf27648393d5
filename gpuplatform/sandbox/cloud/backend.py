"""What stands behind a provider: a cloud that refuses what clouds refuse, and keeps the rest in the world."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gpuplatform.replacement import changes, refuses, without_version
from gpuplatform.sandbox.cloud import outputs, wire
from gpuplatform.sandbox.cloud.rule import Account, Call, Cloud, CloudError, Rule
from gpuplatform.sandbox.cloud.world import Link, Thing, World

__all__ = ["Backend"]


class Backend:
    """One cloud's API. Its calls happen inside a transaction of the world's: all of one or nothing."""

    def __init__(self, cloud: Cloud, world: World) -> None:
        self._cloud = cloud
        self._world = world

    def reach(self, account: Account) -> None:
        """Asks whether the API answers at all.

        Raises:
            CloudError: It does not: the cluster is gone.
        """
        if self._cloud.reachable:
            self._cloud.reachable(account, self._world)

    def thing(self, account: Account, token: str, known_as: str) -> Thing | None:
        """The thing with an id, if it exists."""
        return self._world.get(self._cloud.package, account.scope, without_version(token), known_as)

    def make(self, call: Call, wired: Mapping[str, Any]) -> tuple[Call, dict[str, Any]]:
        """Makes a thing exist: the call with its id, and its outputs.

        Raises:
            CloudError: The cloud refuses it.
        """
        cloud, rule = self._cloud, self._cloud.rule(call.token)
        self._refuse_missing(call, rule)
        self._refuse_machines(call, rule)
        if rule.create:
            rule.create(call)
        call = replace(call, id=(rule.id or cloud.id)(call))
        made = outputs.after_create(cloud, call, wired)
        key = self._world.add(
            cloud=cloud.package,
            scope=call.account.scope,
            token=without_version(call.token),
            id=call.id,
            name=call.name,
            urn=call.urn,
            inputs=wired,
            outputs=made,
            handles=self._handles(call, rule, made),
            links=self._links(call, rule),
        )
        if key is None:
            raise CloudError(cloud.conflict(call))
        return call, made

    def change(self, call: Call, wired: Mapping[str, Any]) -> dict[str, Any]:
        """Gives a thing new inputs: its new outputs.

        Raises:
            CloudError: It is gone, or the cloud refuses the change.
        """
        cloud, rule = self._cloud, self._cloud.rule(call.token)
        thing = self.thing(call.account, call.token, call.id)
        if thing is None:
            raise CloudError(cloud.gone.format(id=call.id))
        self._refuse_missing(call, rule)
        self._refuse_machines(call, rule)
        call = replace(call, created=thing.created, previous=wire.plain(thing.outputs))
        if rule.update:
            rule.update(call, wire.plain(thing.inputs))
        for change in changes(wire.plain(thing.inputs), call.inputs):
            if refuses(call.token, change):
                raise CloudError(cloud.immutable.format(path=change.path))
        changed = outputs.after_create(cloud, call, wired)
        self._world.change(
            thing.key,
            inputs=wired,
            outputs=changed,
            handles=self._handles(call, rule, changed),
            links=self._links(call, rule),
        )
        return changed

    def remove(self, thing: Thing, account: Account) -> None:
        """Makes a thing gone, with all that its cloud deletes together with it.

        Raises:
            CloudError: Something holds it in place.
        """
        doomed = self._falls_with(thing)
        keys = {each.key for each in doomed}
        for each in doomed:
            rule = self._cloud.rule(each.token)
            if rule.delete:
                call = Call(
                    token=each.token,
                    urn=each.urn,
                    inputs=wire.plain(each.inputs),
                    account=account,
                    world=self._world,
                    name=each.name,
                    id=each.id,
                )
                rule.delete(call)
            for holder, path in self._world.holders(each.key):
                for reference in self._cloud.rule(holder.token).references:
                    if holder.key not in keys and reference.path == path and reference.holds:
                        by = holder.name or holder.id
                        raise CloudError(reference.holds.format(id=each.name or each.id, by=by))
        for each in doomed:
            for inner in self._world.inside(f"cluster/{each.key}"):
                self._world.remove(inner.key)
            self._world.remove(each.key)

    def _falls_with(self, thing: Thing) -> list[Thing]:
        """The thing and all that its cloud deletes together with it."""
        found = {thing.key: thing}
        todo = [thing]
        while todo:
            for holder, path in self._world.holders(todo.pop().key):
                references = self._cloud.rule(holder.token).references
                if holder.key not in found and any(r.path == path and r.cascades for r in references):
                    found[holder.key] = holder
                    todo.append(holder)
        return list(found.values())

    def _handles(self, call: Call, rule: Rule, made: Mapping[str, Any]) -> list[tuple[str, str]]:
        plain, token = wire.plain(made), without_version(call.token)
        found = [(token, handle) for handle in self._cloud.handles(call, plain)]
        if rule.handles:
            found += rule.handles(call, plain)
        return [(kind, self._cloud.normal(h)) for kind, h in found if isinstance(h, str) and h]

    def _links(self, call: Call, rule: Rule) -> Iterator[Link]:
        for reference in rule.references:
            for value in reference.values(call):
                yield Link(reference.to, self._cloud.normal(value), reference.path)

    def _refuse_missing(self, call: Call, rule: Rule) -> None:
        for reference in rule.references:
            for value in reference.values(call):
                if not reference.missing or (reference.unless and re.search(reference.unless, value)):
                    continue
                if self._world.named(reference.to, self._cloud.normal(value)) is None:
                    raise CloudError(reference.missing.format(value=value))

    def _refuse_machines(self, call: Call, rule: Rule) -> None:
        for path in rule.machines:
            for sku in wire.at(call.inputs, path):
                if self._cloud.offered and isinstance(sku, str):
                    self._cloud.offered(call, sku)
