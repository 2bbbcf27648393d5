"""What hardware exists, where it is sold and at what price: dated data with sources, and pure look-ups.

>>> from gpuplatform import catalog
>>> catalog.load().sku("aws", "p5.48xlarge").gpu_model
'H100'
"""

from __future__ import annotations

from gpuplatform.catalog.catalog import Catalog, load
from gpuplatform.catalog.loader import CATALOGUE, sources
from gpuplatform.catalog.model import (
    CLOUDS,
    Cloud,
    KubernetesVersion,
    Machine,
    Offering,
    Price,
    PriceBasis,
    Region,
    Sku,
    Source,
    Status,
    Unpriced,
)

__all__ = [
    "CATALOGUE",
    "CLOUDS",
    "Catalog",
    "Cloud",
    "KubernetesVersion",
    "Machine",
    "Offering",
    "Price",
    "PriceBasis",
    "Region",
    "Sku",
    "Source",
    "Status",
    "Unpriced",
    "load",
    "sources",
]
