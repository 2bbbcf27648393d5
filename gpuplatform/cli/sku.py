"""`gpuplatform sku`: what the catalogue knows, read from the product's own data and nowhere else.

Plain text and JSON only: importing a table library would cost more than the whole answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gpuplatform.catalog import CLOUDS, Catalog, Cloud, Machine, Offering, Price, Sku, load
from gpuplatform.clock import today
from gpuplatform.errors import ConfigError

__all__ = ["app"]

JSON_VERSION = 1
"""Raised when a key of the JSON output is renamed or removed; new keys may come at any time."""

app = typer.Typer(help="Look up machine types, where they are sold, and prices.", no_args_is_help=True)

Fabric = Literal["efa", "infiniband", "roce", "tcpx", "tcpxo", "none"]

CloudOption = Annotated[Cloud | None, typer.Option("--cloud", help="One cloud only.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
PricesOption = Annotated[
    Path | None, typer.Option("--prices", help="A stack's own price file; its rows win over the catalogue's.")
]


@app.command("list")
def list_skus(
    *,
    cloud: CloudOption = None,
    model: Annotated[str | None, typer.Option(help="GPU model, such as H100.")] = None,
    region: Annotated[str | None, typer.Option(help="Sold in this region; adds its price.")] = None,
    fabric: Annotated[Fabric | None, typer.Option(help="What connects its nodes.")] = None,
    active: Annotated[bool, typer.Option("--active", help="Leave out what is retired.")] = False,
    prices: PricesOption = None,
    as_json: JsonOption = False,
) -> None:
    """List GPU machine types."""
    catalog = _catalog(prices)
    if region is not None:
        _require_region(catalog, cloud, region)
    skus = [
        sku
        for sku in catalog.skus(cloud)
        if (model is None or sku.gpu_model.casefold() == model.casefold())
        and (fabric is None or sku.fabric == fabric)
        and (region is None or region in catalog.regions(sku.cloud, sku.name))
        and not (active and sku.is_retired(today()))
    ]
    if as_json:
        typer.echo(_json({"skus": [asdict(sku) | _price_key(catalog, sku, region) for sku in skus]}))
        return
    if not skus:
        typer.echo(f"No GPU machine type matches.{_models_hint(catalog, cloud, model)}")
        return
    last = "USD/HOUR" if region else "REGIONS"
    header = ("CLOUD", "SKU", "GPUS", "MODEL", "GB EACH", "FABRIC", "STATUS", last)
    typer.echo(_table(header, [_list_row(catalog, sku, region) for sku in skus]))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The machine type, such as p5.48xlarge.")],
    cloud: CloudOption = None,
    prices: PricesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show everything known about one machine type, with sources, regions and prices."""
    catalog = _catalog(prices)
    found = _find(catalog, name, cloud)
    offerings = [
        offering
        for region in catalog.regions(found.cloud, name)
        if (offering := catalog.offering(found.cloud, name, region)) is not None
    ]
    if as_json:
        rows = [asdict(offering) | _prices(catalog, offering) for offering in offerings]
        typer.echo(_json({"machine": asdict(found) | {"gpu": isinstance(found, Sku)}, "offerings": rows}))
        return
    typer.echo(
        f"{name} ({found.cloud}){'' if isinstance(found, Sku) else ': a machine type without a GPU'}\n"
    )
    facts = {key: value for key, value in asdict(found).items() if key not in {"cloud", "name"}}
    known = {key: _text(value) for key, value in facts.items() if value not in {None, ""}}
    width = max(map(len, known))
    for key, text in known.items():
        typer.echo(f"  {key.ljust(width)}  {text}")
    typer.echo(f"\n  nothing recorded: {', '.join(key for key in facts if key not in known) or '-'}\n")
    if not offerings:
        typer.echo("  Where it is sold is not known.")
        return
    header = ("REGION", "ZONE IDS", "ON DEMAND", "SPOT", "DATE", "FROM")
    typer.echo(_table(header, [_show_row(catalog, offering) for offering in offerings]))
    typer.echo("")
    for source in sorted({offering.source for offering in offerings}):
        typer.echo(f"  source: {source}")


def _catalog(prices: Path | None) -> Catalog:
    return load().with_prices(prices) if prices else load()


def _require_region(catalog: Catalog, cloud: Cloud | None, region: str) -> None:
    clouds: Sequence[Cloud] = CLOUDS if cloud is None else (cloud,)
    if any(catalog.knows_region(each, region) for each in clouds):
        return
    near = [name for each in clouds for name in catalog.nearest_region_names(each, region)]
    raise ConfigError(
        f"{region} is no region that the catalogue knows",
        where="--region",
        way_out=f"did you mean {' or '.join(near)}?" if near else "gpuplatform sku show NAME lists regions",
    )


def _find(catalog: Catalog, name: str, cloud: Cloud | None) -> Sku | Machine:
    clouds: Sequence[Cloud] = CLOUDS if cloud is None else (cloud,)
    for each in clouds:
        found = catalog.sku(each, name) or catalog.machine(each, name)
        if found is not None:
            return found
    near = [f"{other} ({each})" for each in clouds for other in catalog.nearest(each, name)]
    raise ConfigError(
        f"{name} is no machine type that the catalogue knows",
        way_out=f"did you mean {' or '.join(near)}?" if near else "gpuplatform sku list names them all",
    )


def _models_hint(catalog: Catalog, cloud: Cloud | None, model: str | None) -> str:
    models = sorted({sku.gpu_model for sku in catalog.skus(cloud)})
    if model is None or model.casefold() in {known.casefold() for known in models}:
        return ""
    return f" Models: {', '.join(models)}."


def _list_row(catalog: Catalog, sku: Sku, region: str | None) -> tuple[str, ...]:
    if region is None:
        last = str(len(catalog.regions(sku.cloud, sku.name)) or "not known")
    else:
        last = _usd(catalog, sku.cloud, sku.name, region, "on-demand")
    return (
        sku.cloud,
        sku.name,
        _text(sku.gpu_count),
        sku.gpu_model,
        _text(sku.gpu_mem_gb_each),
        sku.fabric,
        sku.status.value,
        last,
    )


def _show_row(catalog: Catalog, offering: Offering) -> tuple[str, ...]:
    where = (offering.cloud, offering.sku, offering.region)
    spot = catalog.price(*where, "spot")
    return (
        offering.region,
        " ".join(offering.zone_ids) or "not known",
        _usd(catalog, *where, "on-demand"),
        f"{spot.usd_per_hour:f}" if isinstance(spot, Price) and spot.basis == "spot" else "not known",
        offering.date.isoformat(),
        offering.origin,
    )


def _usd(catalog: Catalog, cloud: Cloud, name: str, region: str, kind: str) -> str:
    price = catalog.price(cloud, name, region, kind)
    return f"{price.usd_per_hour:f}" if isinstance(price, Price) else "unpriced"


def _price_key(catalog: Catalog, sku: Sku, region: str | None) -> dict[str, Any]:
    return {} if region is None else {"price": asdict(catalog.price(sku.cloud, sku.name, region))}


def _prices(catalog: Catalog, offering: Offering) -> dict[str, Any]:
    """The prices in force by kind of capacity, so that a reader need not merge the two origins."""
    kinds = ("on-demand", "spot", "reservation", "capacity-block")
    where = (offering.cloud, offering.sku, offering.region)
    return {
        "source": offering.source,
        "prices": {kind: asdict(catalog.price(*where, kind)) for kind in kinds},
    }


def _text(value: object) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _json(document: dict[str, Any]) -> str:
    def plain(value: object) -> object:
        if isinstance(value, Decimal):
            return float(value)
        if isinstance(value, date):
            return value.isoformat()
        raise TypeError(type(value).__name__)

    return json.dumps({"version": JSON_VERSION} | document, default=plain, indent=2)
