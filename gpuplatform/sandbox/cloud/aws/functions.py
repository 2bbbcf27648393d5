"""AWS' zones and the functions (data sources) that programs ask before they build."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from gpuplatform.sandbox.cloud import wire
from gpuplatform.sandbox.cloud.rule import Account, CloudError
from gpuplatform.sandbox.cloud.world import World

__all__ = ["FUNCTIONS", "USER", "zone_id", "zone_name", "zones"]

USER = "sandbox"

# https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html
_ZONES = {"us-east-1": 6, "us-west-2": 4, "us-west-1": 2, "ca-west-1": 3, "ap-northeast-2": 4}
_MOST = 3
_DIRECTIONS = {
    "north": "n", "south": "s", "east": "e", "west": "w", "central": "c",
    "northeast": "ne", "northwest": "nw", "southeast": "se", "southwest": "sw",
}  # fmt: skip


def zones(region: str) -> dict[str, str]:
    """The region's zones in the sandbox's account: name -> ID.

    AWS shuffles the names per account and the IDs never. The sandbox's account has them the other way round
    (us-east-1a is use1-az6), so a program that takes `a` for `az1` is found out.
    """
    parts = region.split("-")
    short = "".join(
        [parts[0], *("g" for p in parts[1:-2] if p == "gov"), _DIRECTIONS.get(parts[-2], parts[-2])]
    )
    count = _ZONES.get(region, _MOST)
    return {f"{region}{'abcdef'[i]}": f"{short}{parts[-1]}-az{count - i}" for i in range(count)}


def zone_id(region: str, name: str) -> str:
    """The ID behind a name; empty for a zone that the region does not have."""
    return zones(region).get(name, "")


def zone_name(region: str, zone: str) -> str:
    """The name of an ID; empty for a zone that the region does not have."""
    return next((name for name, found in zones(region).items() if found == zone), "")


def _caller(account: Account, _args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    arn = f"arn:aws:iam::{account.owner}:user/{USER}"
    return {"accountId": account.owner, "arn": arn, "userId": "AIDASANDBOX", "id": account.owner}


def _region(account: Account, args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    name = args.get("region") or args.get("name") or account.region
    return {
        "id": name,
        "name": name,
        "region": name,
        "description": name,
        "endpoint": f"ec2.{name}.amazonaws.com",
    }


def _partition(_account: Account, _args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    return {
        "id": "aws",
        "partition": "aws",
        "dnsSuffix": "amazonaws.com",
        "reverseDnsPrefix": "com.amazonaws",
    }


def _availability_zones(account: Account, args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    region = args.get("region") or account.region
    chosen = zones(region)
    for pick in args.get("filters") or []:
        values = set(pick.get("values") or [])
        if pick.get("name") == "zone-id":
            chosen = {n: i for n, i in chosen.items() if i in values}
        elif pick.get("name") == "zone-name":
            chosen = {n: i for n, i in chosen.items() if n in values}
    return {
        "id": region,
        "region": region,
        "names": list(chosen),
        "zoneIds": list(chosen.values()),
        "groupNames": [region],
    }


def _parameter(account: Account, args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    """Public parameters only (AMI ids of EKS); the sandbox's account keeps none of its own."""
    name = args["name"]
    if not name.startswith("/aws/service/"):
        raise CloudError(f"reading SSM Parameter ({name}): couldn't find resource")
    if name.endswith("image_id"):
        value = f"ami-{wire.digest(account.region, name, length=17)}"
    else:
        value = "1.0.0-20261101"
    arn = f"arn:aws:ssm:{account.region}::parameter{name}"
    return {
        "id": name,
        "name": name,
        "value": value,
        "insecureValue": value,
        "type": "String",
        "version": 1,
        "arn": arn,
        "region": account.region,
    }


def _addon_version(account: Account, args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    name, kubernetes = args["addonName"], args["kubernetesVersion"]
    # A version of the right form; which one is real, AWS alone knows, and it changes by the week.
    return {
        "id": name,
        "addonName": name,
        "kubernetesVersion": kubernetes,
        "mostRecent": bool(args.get("mostRecent")),
        "version": f"v{kubernetes}.0-eksbuild.1",
        "region": account.region,
    }


def _policy_document(_account: Account, args: Mapping[str, Any], _world: World) -> dict[str, Any]:
    statements = []
    for given in args.get("statements") or []:
        statement: dict[str, Any] = {"Effect": given.get("effect") or "Allow"}
        for source, target in (
            ("sid", "Sid"),
            ("actions", "Action"),
            ("notActions", "NotAction"),
            ("resources", "Resource"),
            ("notResources", "NotResource"),
        ):
            if given.get(source):
                statement[target] = given[source]
        for principal in given.get("principals") or []:
            statement.setdefault("Principal", {})[principal["type"]] = principal["identifiers"]
        for condition in given.get("conditions") or []:
            test = statement.setdefault("Condition", {}).setdefault(condition["test"], {})
            test[condition["variable"]] = condition["values"]
        statements.append(statement)
    document = {"Version": args.get("version") or "2012-10-17", "Statement": statements}
    return {
        "id": wire.digest(json.dumps(document), length=10),
        "json": json.dumps(document, indent=2),
        "minifiedJson": json.dumps(document, separators=(",", ":")),
    }


def _cluster_auth(account: Account, args: Mapping[str, Any], world: World) -> dict[str, Any]:
    if world.named("aws:eks/cluster:Cluster", args["name"]) is None:
        raise CloudError(f"reading EKS Cluster ({args['name']}): couldn't find resource")
    return {
        "id": args["name"],
        "name": args["name"],
        "region": account.region,
        "token": wire.secret("k8s-aws-v1.sandbox"),
    }


FUNCTIONS = {
    "aws:index/getCallerIdentity:getCallerIdentity": _caller,
    "aws:index/getRegion:getRegion": _region,
    "aws:index/getPartition:getPartition": _partition,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _availability_zones,
    "aws:ssm/getParameter:getParameter": _parameter,
    "aws:eks/getAddonVersion:getAddonVersion": _addon_version,
    "aws:eks/getClusterAuth:getClusterAuth": _cluster_auth,
    "aws:iam/getPolicyDocument:getPolicyDocument": _policy_document,
}


def knows_zone(region: str, zone: str) -> bool:
    """Whether the region has a zone of this name or ID."""
    known = zones(region)
    return zone in (known.values() if re.search(r"-az\d+$", zone) else known)
