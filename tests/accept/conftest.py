"""Logs as nccl-tests prints them (logs/SOURCES.md), and profiles to judge them by."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from profiles import made_profile

from gpuplatform.accept import Log, parse
from gpuplatform.profile import AmiDriver, Bandwidth, Efa, NodeProfile

EFA = Efa(interfaces=(), adapters=32, gpudirect=True)
FLOOR = Bandwidth(floor=300, metric="peak", source="somewhere")


def spoken(text: str, network: str) -> str:
    """The log, with each of its ranks naming the network that it uses."""
    ranks = re.findall(r"Rank +\d+ .*?Pid +(\d+) on +(\S+) device", text)
    lines = [f"{host}:{process}:9 [0] NCCL INFO Using network {network}\n" for process, host in ranks]
    return "".join(lines) + text


@pytest.fixture
def speaking() -> Callable[[str, str], str]:
    return spoken


@pytest.fixture
def text() -> Callable[[str], str]:
    return lambda name: (Path(__file__).parent / "logs" / f"{name}.log").read_text()


@pytest.fixture
def log(text: Callable[[str], str]) -> Callable[[str], Log]:
    return lambda name: parse(text(name))


@pytest.fixture
def profile() -> Callable[..., NodeProfile]:
    def make(**fields: object) -> NodeProfile:
        driver = AmiDriver(ami_type="AL2023_x86_64_NVIDIA")
        return made_profile(driver, **{"fabric": EFA, "bandwidth": FLOOR, **fields})

    return make
