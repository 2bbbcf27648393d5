"""Conditions written as expressions: Google's CEL and Entra's claims matching, read as scopes.

Only what decides who gets in is understood: and, or, comparisons of a claim with text. Anything else lets
everybody in, and what cannot be read at all is None, which is never a pass.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Final

from gpuplatform.security.scope import ANYONE, Reach, Scope, claim_scope

__all__ = ["cel_scope", "claims_matching_scope"]

_TOKEN: Final = re.compile(
    r"""(?:\s|//[^\n]*+)*+(?:(?P<text>[rR]?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))|(?P<word>[A-Za-z_][\w.]*)"""
    r"""|(?P<number>\d+)|(?P<sign>&&|\|\||==|!=|<=|>=|[<>!()\[\],?:+.-]))"""
)


@dataclass(frozen=True, slots=True)
class _Claim:
    name: str


@dataclass(frozen=True, slots=True)
class _Other:
    """An operand that is neither a claim nor text."""


_NOBODY: Final = Scope(reach=Reach.REPOSITORY, narrowed=True)


class _UnreadableError(Exception):
    """Not an expression that is understood."""


_Operand = _Claim | str | tuple["_Operand", ...] | Scope | _Other


def cel_scope(text: str, mapping: Mapping[str, str]) -> Scope | None:
    """Whom an attribute condition lets in (https://cloud.google.com/iam/docs/workload-identity-federation).

    Args:
        text: The condition.
        mapping: The provider's attribute mapping: `attribute.x` and `google.subject` mean what it says.
    """
    try:
        return _Parser(text, mapping).whole()
    except (_UnreadableError, RecursionError):
        return None


_MATCHING: Final = re.compile(r"claims\['(?P<claim>\w+)'\] (?P<how>eq|matches) '(?P<value>[^']*)'")


def claims_matching_scope(text: str) -> Scope | None:
    """Whom a flexible federated credential lets in; its language has `eq`, `matches` and `and`.

    https://learn.microsoft.com/entra/workload-id/workload-identities-flexible-federated-identity-credentials
    """
    parts = [_MATCHING.fullmatch(part.strip()) for part in re.split(r"\s+and\s+", text)]
    scopes = [claim_scope(part["claim"], part["value"]) for part in parts if part]
    return reduce(Scope.__and__, scopes) if len(scopes) == len(parts) else None


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    end = 0
    while match := _TOKEN.match(text, end):
        kind = str(match.lastgroup)
        found.append((kind, match[kind]))
        end = match.end()
    if re.sub(r"//[^\n]*", "", text[end:]).strip():
        raise _UnreadableError
    return found


class _Parser:
    def __init__(self, text: str, mapping: Mapping[str, str]) -> None:
        self._mapping = mapping
        self._tokens = _tokens(text)
        self._at = 0

    def whole(self) -> Scope:
        scope = self._or()
        if self._at < len(self._tokens):
            raise _UnreadableError
        return scope

    def _or(self) -> Scope:
        scope = self._and()
        while self._take("||"):
            scope |= self._and()
        return scope

    def _and(self) -> Scope:
        scope = self._not()
        while self._take("&&"):
            scope &= self._not()
        return scope

    def _not(self) -> Scope:
        if self._take("!"):
            self._not()
            return ANYONE  # everybody but somebody
        return self._comparison()

    def _comparison(self) -> Scope:
        left = self._operand()
        for sign in ("==", "!=", "<=", ">=", "<", ">", "in"):
            if self._take(sign):
                return _compare(left, sign, self._operand())
        return left if isinstance(left, Scope) else ANYONE

    def _operand(self) -> _Operand:
        if self._take("("):
            scope = self._or()
            self._need(")")
            return scope
        if self._take("["):
            return self._list()
        kind, text = self._next()
        if kind == "text":
            return self._methods(_unquoted(text))
        return self._methods(self._named(text)) if kind == "word" else _Other()

    def _list(self) -> _Operand:
        found: list[_Operand] = []
        while not self._take("]"):
            found.append(self._operand())
            if not self._take(","):
                self._need("]")
                break
        return tuple(found)

    def _named(self, word: str) -> _Operand:
        """A claim, by its own name or an attribute's; a method's name stays for the caller."""
        base, _, method = word.rpartition(".") if self._peek() == "(" else (word, "", "")
        if base in {"assertion", "attribute", "claims"} and self._take("["):
            key = self._next()[1]
            self._need("]")
            base = f"{base}.{_unquoted(key)}"
        if method or self._peek() == "(":
            return self._call(_claim(base, self._mapping), method)
        return _claim(base, self._mapping)

    def _call(self, target: _Operand, method: str) -> _Operand:
        self._need("(")
        arguments: list[_Operand] = []
        while not self._take(")"):
            arguments.append(self._operand_or_expression())
            if not self._take(","):
                self._need(")")
                break
        return _called(target, method, arguments)

    def _operand_or_expression(self) -> _Operand:
        start = self._at
        operand = self._operand()
        if self._peek() in {",", ")"}:
            return operand
        self._at = start
        return self._or()

    def _methods(self, target: _Operand) -> _Operand:
        while self._take("."):
            _, name = self._next()
            target = self._call(target, name) if self._peek() == "(" else _Other()
        return target

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise _UnreadableError
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, text: str) -> bool:
        taken = self._at < len(self._tokens) and self._tokens[self._at][1] == text
        self._at += taken
        return taken

    def _need(self, text: str) -> None:
        if not self._take(text):
            raise _UnreadableError


def _claim(word: str, mapping: Mapping[str, str]) -> _Operand:
    if word == "false":
        return _NOBODY
    if word.startswith(("attribute.", "google.")):
        word = mapping.get(word, "").strip()
    name = re.fullmatch(r"assertion\.(\w+)|assertion\[['\"](\w+)['\"]\]", word)
    return _Claim(name[1] or name[2]) if name else _Other()


def _compare(left: _Operand, sign: str, right: _Operand) -> Scope:
    if isinstance(left, str) and isinstance(right, _Claim) and sign == "==":
        left, right = right, left
    if not isinstance(left, _Claim):
        return ANYONE
    if sign == "==" and isinstance(right, str):
        return claim_scope(left.name, right)
    if sign == "in" and isinstance(right, tuple) and right:
        scopes = [claim_scope(left.name, one) if isinstance(one, str) else ANYONE for one in right]
        return reduce(Scope.__or__, scopes)
    return Scope(why=f"{left.name} {sign} ...")


def _called(target: _Operand, method: str, arguments: list[_Operand]) -> _Operand:
    if method == "string" and isinstance(target, _Other) and len(arguments) == 1:
        return arguments[0]
    if method in {"lowerAscii", "upperAscii", "trim"} and not arguments:
        return target
    if isinstance(target, _Claim) and len(arguments) == 1 and isinstance(arguments[0], str):
        if method == "startsWith":
            return claim_scope(target.name, f"{arguments[0]}*")
        if method == "matches":
            return claim_scope(target.name, _pattern(arguments[0]))
    return Scope(why=f"{method}()") if method else _Other()


def _pattern(regex: str) -> str:
    """What a regular expression fixes, as a pattern with `*`: it matches anywhere unless it is anchored."""
    if not regex.startswith("^") or "|" in regex:
        return "*"
    fixed, closed = regex[1:], regex.endswith("$")
    plain = re.sub(r"\\([./_-])", lambda match: match[1].replace(".", "\0"), fixed.removesuffix("$"))
    cut = re.search(r"[.*+?()\[\]{}\\^$]", plain)
    if cut is None:
        return plain.replace("\0", ".") + ("" if closed else "*")
    # A quantifier also makes what stands before it optional.
    stop = cut.start() - (1 if cut[0] in "*+?{" else 0)
    return plain[: max(stop, 0)].replace("\0", ".") + "*"


def _unquoted(text: str) -> str:
    raw = text[:1] in "rR" and len(text) > 1 and text[1] in "\"'"
    body = text[2:-1] if raw else text[1:-1]
    return body if raw else re.sub(r"\\(.)", r"\1", body)
