"""What every tier shares: no test reaches beyond this machine, and no test ages."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pytest
from pytest_socket import socket_allow_hosts
from samples import ROOT, TODAY

from gpuplatform.sandbox import engine as engines


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


@pytest.fixture(scope="session")
def engine() -> engines.Engine:
    """The engine of this machine. None: these tests are skipped, and in CI they fail."""
    search = engines.find()
    if search.engine:
        return search.engine
    reason = "no Pulumi engine: " + "; ".join(str(skipped) for skipped in search.skipped)
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
