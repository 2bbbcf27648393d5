"""What every configuration model has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["At", "Model"]


class At(ValueError):
    """A broken rule of a whole model, with the path of the value at fault below that model."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


class Model(BaseModel):
    """Frozen, strict, and closed: an unknown key is an error, a number is never read as a string."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=False)
