"""Readers of raw resources, one module a cloud: each names the types it reads and what they would run."""

from __future__ import annotations
