"""What the roles of a pipeline may do in a cloud, from what the stack builds; pure."""

from __future__ import annotations

from gpuplatform.permissions.model import ROLES, Role

__all__ = ["ROLES", "Role"]
