"""What every tier shares: no test reaches beyond this machine, and no test ages."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from pytest_socket import socket_allow_hosts
from samples import ROOT, TODAY


def pytest_runtest_setup() -> None:
    """Sockets to anything but this machine fail at once."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


@pytest.fixture(autouse=True)
def _the_clock_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUPLATFORM_TODAY", TODAY.isoformat())


@pytest.fixture
def today() -> dt.date:
    return TODAY


@pytest.fixture
def root() -> Path:
    return ROOT
