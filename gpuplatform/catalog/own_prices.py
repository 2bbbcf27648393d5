"""A stack's own offerings and prices: negotiated, reserved, or missing from the catalogue.

A CSV file with a header, or a YAML file with a list under `prices:`, of the columns in `schema.OWN_PRICES`:

```yaml
prices:
  - cloud: aws
    sku: p5.48xlarge
    region: us-west-2
    usd_per_hour: 49.50            # on demand
    usd_per_hour_reserved: 31.46   # reservations and capacity blocks
    date: 2026-11-01
    source: EDP contract 4711
```

A price here wins over the catalogue's of the same kind, machine type and region; a price left empty is still
the catalogue's. A row without any price says only that the type is offered there. A region that the catalogue
lacks is most likely misspelt: `new_region: yes` says that it is not.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuplatform import clock
from gpuplatform.catalog import schema
from gpuplatform.catalog.model import CLOUDS, Cloud, Offering
from gpuplatform.errors import ConfigError

if TYPE_CHECKING:
    from gpuplatform.catalog.catalog import Catalog

__all__ = ["read"]

_COLUMNS = tuple(column.name for column in schema.OWN_PRICES)
_RULE = f"columns: {', '.join(_COLUMNS)}"
_MOST_BITS = 1024
_PRICES = ("usd_per_hour", "usd_per_hour_spot", "usd_per_hour_reserved")


def read(path: Path, catalog: Catalog) -> dict[tuple[Cloud, str, str], Offering]:
    """The file's rows.

    Raises:
        ConfigError: The file cannot be read, or rows of it are wrong. All are reported, each with its row.
    """
    offerings: dict[tuple[Cloud, str, str], Offering] = {}
    problems: list[ConfigError] = []
    for row, cells in _rows(path):
        where = f"{path}: {row}"
        values, wrong = _values(cells, where)
        if wrong:
            problems += wrong
            continue
        key = (values["cloud"], values["sku"], values["region"])
        wrong = [*_not_known(catalog, values, where), *_no_region(catalog, values, where)]
        wrong += _not_yet(values, where)
        if wrong:
            problems += wrong
        elif key in offerings:
            problems.append(
                ConfigError(f"a second row for {' '.join(key)}", where=where, rule="one row each")
            )
        else:
            offerings[key] = _offering(values, catalog.offering(*key), str(path))
    if problems:
        raise ConfigError.of(problems)
    if not offerings:
        raise ConfigError(
            "the file has no prices",
            where=str(path),
            rule="at least one row",
            way_out="add a row, or remove the stack's key prices to use the catalogue alone",
        )
    return offerings


def _values(cells: dict[str, str], where: str) -> tuple[dict[str, Any], list[ConfigError]]:
    unknown = sorted(set(cells) - set(_COLUMNS))
    if unknown:
        return {}, [ConfigError(f"unknown column {', '.join(unknown)}", where=where, rule=_RULE)]
    values, wrong = schema.read_row(cells, schema.OWN_PRICES)
    return values, [ConfigError(text, where=where, rule=_rule(column)) for column, text in wrong]


def _rule(column: str) -> str:
    return next(each.doc for each in schema.OWN_PRICES if each.name == column)


def _not_known(catalog: Catalog, values: dict[str, Any], where: str) -> Iterator[ConfigError]:
    """A misspelt machine type would never match a pool, and its price would be silently unused."""
    cloud, sku = values["cloud"], values["sku"]
    if catalog.sku(cloud, sku) or catalog.machine(cloud, sku):
        return
    near = catalog.nearest(cloud, sku)
    yield ConfigError(
        f"{cloud} has no machine type {sku}",
        where=where,
        rule="a row prices a machine type of the catalogue",
        way_out=f"did you mean {' or '.join(near)}?" if near else "check the name: gpuplatform sku list",
    )


def _no_region(catalog: Catalog, values: dict[str, Any], where: str) -> Iterator[ConfigError]:
    """A misspelt region likewise; one of another cloud's is none of this one's, whatever the row says."""
    cloud, region = values["cloud"], values["region"]
    if catalog.knows_region(cloud, region):
        return
    theirs = [other for other in CLOUDS if other != cloud and catalog.knows_region(other, region)]
    if values["new_region"] and not theirs:
        return
    near = catalog.nearest_region_names(cloud, region)
    hint = f"did you mean {' or '.join(near)}?" if near else "check its name in the cloud's own list"
    if theirs:
        problem = f"{region} is a region of {' and '.join(theirs)}, not of {cloud}"
    else:
        problem = f"{cloud} has no region {region}, as far as the catalogue knows"
        hint += " If the region is a new one, say so: new_region, yes"
    yield ConfigError(problem, where=where, rule=_rule("region"), way_out=hint)


def _not_yet(values: dict[str, Any], where: str) -> Iterator[ConfigError]:
    """A price from the future would never grow old.

    `GPUPLATFORM_TODAY` may ask about a day before the file was written: that makes no price a wrong one.
    """
    today = max(clock.today(), datetime.now(tz=UTC).date())
    if values["date"] > today + timedelta(days=1):  # a day more: the date was written in some time zone
        yield ConfigError(
            f"date is {values['date']}, and today is {today}",
            where=where,
            rule="a price is of today or before",
        )


def _offering(values: dict[str, Any], catalogues: Offering | None, file: str) -> Offering:
    """A row as an offering; zones it does not name are the catalogue's, prices it does not name stay None."""
    source = values["source"] or file
    priced = any(values[name] is not None for name in _PRICES)
    return Offering(
        cloud=values["cloud"],
        sku=values["sku"],
        region=values["region"],
        zone_ids=values["zone_ids"] or (catalogues.zone_ids if catalogues else ()),
        usd_per_hour=values["usd_per_hour"],
        usd_per_hour_spot=values["usd_per_hour_spot"],
        usd_per_hour_reserved=values["usd_per_hour_reserved"],
        offered_source=source,
        offered_date=values["date"],
        price_source=source if priced else "",
        price_date=values["date"] if priced else None,
        origin=file,
    )


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")  # with the mark that spreadsheets write first
    except OSError as error:
        raise ConfigError(
            f"the price file cannot be read: {error.strerror}",
            where=str(path),
            way_out="correct the path under prices, or remove the key to use the catalogue alone",
        ) from None
    except UnicodeDecodeError:
        raise ConfigError("the file is no text in UTF-8", where=str(path)) from None
    if "\0" in text:
        raise ConfigError("the file is no text: it holds NUL characters", where=str(path))
    if path.suffix == ".csv":
        return _csv_rows(path, text)
    if path.suffix in {".yaml", ".yml"}:
        return _yaml_rows(path, text)
    raise ConfigError(
        f"{path.name} is no price file", where=str(path), rule="prices are in a .csv, .yaml or .yml file"
    )


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, dict[str, str]]]:
    # Strict: a quote that is never closed would take all the rows after it into its cell.
    reader = csv.reader(StringIO(text), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(header, path)
        for cells in reader:
            if not cells:
                continue
            row = f"line {reader.line_num}"
            if len(cells) != len(header):
                raise ConfigError(f"{len(cells)} cells under {len(header)} columns", where=f"{path}: {row}")
            yield row, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise ConfigError(f"this is no CSV: {error}", where=f"{path}: line {reader.line_num}") from None


def _check_header(header: list[str], path: Path) -> None:
    where = f"{path}: line 1"
    if not any(header):
        raise ConfigError("the file is empty", where=str(path), rule=f"its first line names {_RULE}")
    if len(header) == 1 and (separator := next((each for each in ";\t|" if each in header[0]), "")):
        raise ConfigError(
            f"the columns are separated by {separator!r}", where=where, rule="cells have a comma between"
        )
    unknown = [name for name in header if name not in _COLUMNS]
    twice = [name for name, count in Counter(header).items() if count > 1]
    missing = [each.name for each in schema.OWN_PRICES if each.required and each.name not in header]
    for what, names in (("unknown column", unknown), ("two columns", twice), ("no column", missing)):
        if names:
            listed = ", ".join(name or "without a name" for name in names)
            raise ConfigError(f"{what} {listed}", where=where, rule=_RULE)


def _yaml_rows(path: Path, text: str) -> Iterator[tuple[str, dict[str, str]]]:
    from gpuplatform.yamlfile import parse_text

    document = parse_text(text, path)
    rows = document.get("prices") if isinstance(document, dict) else None
    if not isinstance(rows, list) or set(document) != {"prices"}:
        raise ConfigError(
            "the file has no list of prices",
            where=str(path),
            rule="a YAML price file is one list under prices:",
        )
    for index, row in enumerate(rows):
        where = f"prices[{index}]"
        if not isinstance(row, dict):
            raise ConfigError("the entry is no mapping of columns to values", where=f"{path}: {where}")
        yield where, {str(name): _cell(value) for name, value in row.items()}


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(str(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return hex(value)  # Python writes no such number in decimal; as a price it is refused either way
    return value.isoformat() if isinstance(value, date) else str(value)
