"""Evaluates IAM policies, as far as the product's documents go."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any


class Iam:
    """As IAM evaluates policies on a role: denied, unless a statement allows it and none denies it.

    Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html.
    """

    def __init__(self, *documents: Mapping[str, Any]) -> None:
        self.statements = [statement for document in documents for statement in document["Statement"]]

    def allows(self, action: str, resource: str, **context: str) -> bool:
        effects = {
            statement["Effect"]
            for statement in self.statements
            if any(fnmatchcase(action, each) for each in as_list(statement["Action"]))
            and any(fnmatchcase(resource, each) for each in as_list(statement["Resource"]))
            and all(
                _holds(operator, context.get(key), as_list(values))
                for operator, keys in statement.get("Condition", {}).items()
                for key, values in keys.items()
            )
        }
        return "Allow" in effects and "Deny" not in effects


def _holds(operator: str, value: str | None, values: list[str]) -> bool:
    match operator:
        case "StringEquals" | "Bool":
            return value in values
        case "StringNotEquals":
            return value not in values  # true as well where the key is missing
        case "ArnLike":
            return value is not None and any(fnmatchcase(value, each) for each in values)
        case "ArnNotLike":
            return value is None or not any(fnmatchcase(value, each) for each in values)
        case "StringLike" | "ForAnyValue:StringLike":
            return value is not None and any(fnmatchcase(value, each) for each in values)
        case "Null":
            return (value is None) == (values == ["true"])
    raise AssertionError(operator)


def as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
