"""One operation of the engine, as a pack's process sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from gpuplatform.errors import ConfigError

__all__ = ["Operation", "StackConfig"]

SettingsT = TypeVar("SettingsT")


@dataclass(frozen=True, slots=True, kw_only=True)
class StackConfig:
    """The stack's own configuration, as the engine hands it over.

    Attributes:
        stack: The stack's name.
        platform: The JSON text of `gpuplatform:platform`; None where the stack has no such key.
        secret: Whether that value is marked as secret.
    """

    stack: str = ""
    platform: str | None = None
    secret: bool = False


class Operation(ABC, Generic[SettingsT]):
    """What the engine said so far.

    Attributes:
        previewing: Whether this operation is a preview.
        silent: Whether what is seen of single resources is not to be reported.
        refused: Whether the engine has been told what is wrong with the configuration.
    """

    def __init__(self) -> None:
        self.previewing = True
        self.silent = False
        self._pack: Mapping[str, Mapping[str, Any]] = {}
        self._stack: StackConfig | None = None
        self._begin()

    def configure(self, pack: Mapping[str, Mapping[str, Any]], *, silent: bool = False) -> None:
        """Takes the pack's own configuration, by policy."""
        self._pack = pack
        self.silent = silent
        self._forget()

    def configure_stack(self, stack: StackConfig, *, previewing: bool) -> None:
        """Takes the stack's configuration; a new operation begins."""
        self._stack = stack
        self.previewing = previewing
        self._begin()

    @cached_property
    def settings(self) -> SettingsT:
        """What to judge by.

        Raises:
            ConfigError: The pack's or the stack's configuration is wrong.
        """
        return self._load(self._pack, self._stack)

    @cached_property
    def wrong(self) -> str | None:
        """Why there are no settings to judge by; None where there are."""
        try:
            self.settings  # noqa: B018 - read for its error alone
        except ConfigError as error:
            return str(error)
        return None

    def _forget(self) -> None:
        self.refused = False
        self.__dict__.pop("settings", None)
        self.__dict__.pop("wrong", None)

    def _begin(self) -> None:
        self._forget()

    @abstractmethod
    def _load(self, pack: Mapping[str, Mapping[str, Any]], stack: StackConfig | None) -> SettingsT:
        """Reads the settings."""
