"""The charts' own defaults and kinds, and what of ours does not fit them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

DATA = Path(__file__).parent / "data"
# The CRDs are megabytes: the parser in C where there is one.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_COMMENTED_METRICS = re.compile(r"  # config:\n    # name: .*\n    # create: true\n    # data: \|-\n.*\n")


@cache
def yaml_of(path):
    return next(yaml.load_all((DATA / path).read_text(), Loader=LOADER))


def chart_defaults(chart, version):
    """The chart's default values, with those of Node Feature Discovery below it where they are stored."""
    folder = f"{chart}-{version}"
    defaults = dict(yaml_of(f"{folder}/values.yaml"))
    if metrics := _COMMENTED_METRICS.search((DATA / folder / "values.yaml").read_text()):
        # The chart describes these three in a comment only, and its templates read them.
        config = yaml.safe_load(metrics[0].replace("#", " "))["config"]
        defaults["dcgmExporter"] = {**defaults["dcgmExporter"], "config": config}
    sub_chart = f"{folder}/node-feature-discovery.values.yaml"
    if (DATA / sub_chart).is_file():
        defaults["node-feature-discovery"] = overlaid(yaml_of(sub_chart), defaults["node-feature-discovery"])
    return defaults


def overlaid(below, above):
    """Helm's own merge: mappings are joined, all else replaced."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {
            key: overlaid(below[key], above[key])
            if key in below and key in above
            else above.get(key, below.get(key))
            for key in {**below, **above}
        }
    return above


def misfits(values, defaults, path=""):
    """Paths of values that the chart does not have, or has with another type."""
    for key, value in values.items():
        here = f"{path}.{key}".lstrip(".")
        if key not in defaults:
            yield here
        elif defaults[key] is None or defaults[key] == {}:
            continue  # the chart leaves the shape open
        elif type(value) is not type(defaults[key]):
            yield f"{here} is {type(value).__name__}, the chart has {type(defaults[key]).__name__}"
        elif isinstance(value, dict):
            yield from misfits(value, defaults[key], here)


def kinds(path):
    """Every kind of a file of CRDs, as (group/version, kind) -> schema."""
    found = {}
    for crd in yaml.load_all((DATA / path).read_text(), Loader=LOADER):
        for version in crd["spec"]["versions"]:
            key = (f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"])
            found[key] = version["schema"]["openAPIV3Schema"]
    return found


def problems(body, schema, *, group_version, kind):
    """What an API server with this kind refuses or silently drops: both are mistakes."""
    whole = {"apiVersion": group_version, "kind": kind, **body}
    validator = Draft202012Validator(closed(schema))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(whole)]


def closed(schema):
    """The schema with unknown fields forbidden, which the API server would drop."""
    if not isinstance(schema, dict):
        return schema
    shut = {key: closed_part(key, part) for key, part in schema.items() if key != "description"}
    keeps = schema.get("x-kubernetes-preserve-unknown-fields")
    if "properties" in schema and "additionalProperties" not in schema and not keeps:
        shut["additionalProperties"] = False
    return shut


def closed_part(key, part):
    if key == "properties":
        # A CRD says nothing of metadata beyond "an object".
        return {name: {} if name == "metadata" else closed(one) for name, one in part.items()}
    if key in {"items", "additionalProperties"}:
        return closed(part)
    if key == "pattern" and "(?i)" in part:  # Go takes flags anywhere, Python at the start
        return "(?i)" + part.replace("(?i)", "")
    return part
