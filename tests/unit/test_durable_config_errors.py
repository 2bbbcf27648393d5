"""Storage, teams, identities, budgets: every mistake has its own sentence, with its place and the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuplatform.config import Platform
from gpuplatform.errors import ConfigError

Loaded = Callable[..., Platform]
Change = Callable[[dict[str, Any]], None]


def _top(**values: Any) -> Change:
    return lambda platform: platform.update(values)


def _object(**values: Any) -> Change:
    return _top(storage={"data": {"tier": "object", **values}})


def _shared(**values: Any) -> Change:
    return _top(storage={"scratch": {"tier": "shared-filesystem", "capacity_gib": 1200, **values}})


def _block(**values: Any) -> Change:
    return _top(storage={"disks": {"tier": "block", **values}})


def _teams(*teams: dict[str, Any]) -> Change:
    return _top(storage={"data": {"tier": "object"}, "disks": {"tier": "block"}}, teams=list(teams))


def _github(**values: Any) -> Change:
    github = {"repository": "example/ml-platform", "environments": ["prod"], **values}
    return _top(identity={"github": {key: value for key, value in github.items() if value is not ...}})


def _budget(**values: Any) -> Change:
    return lambda platform: platform["budget"].update(values)


def _viewers(*viewers: str) -> Change:
    return lambda platform: platform["cluster"].update(viewers=list(viewers))


CASES: dict[str, tuple[Change, list[str]]] = {
    "a tier without its kind": (_top(storage={"data": {}}), ["storage.data", "`tier` is missing"]),
    "a tier of a kind that is none": (
        _top(storage={"data": {"tier": "objects"}}),
        ["storage.data", "did you mean 'object'"],
    ),
    "a tier's name with capitals": (
        _top(storage={"Data": {"tier": "object"}}),
        ["storage.Data", "at most 12"],
    ),
    "a tier's name too long": (
        _top(storage={"experimental1": {"tier": "object"}}),
        ["storage.experimental1", "at most 12"],
    ),
    "a tier named like a kind, with a key that is none": (
        _top(storage={"object": {"tier": "object", "buckett": "x"}}),
        ["storage.object.buckett", "did you mean `bucket`"],
    ),
    "storage that is a list": (_top(storage=[{"tier": "object"}]), ["storage", "a mapping belongs here"]),
    "a bucket with capitals": (_object(bucket="My-Bucket"), ["storage.data.bucket", "lower-case"]),
    "a bucket with an underscore": (_object(bucket="my_bucket"), ["storage.data.bucket", "3 to 63"]),
    "a bucket of two characters": (_object(bucket="ab"), ["storage.data.bucket", "3 to 63"]),
    "a bucket that ends in a hyphen": (_object(bucket="data-"), ["storage.data.bucket"]),
    "one bucket for two tiers": (
        _top(storage={name: {"tier": "object", "bucket": "data-1"} for name in ("a", "b")}),
        ["storage.b.bucket", "data-1 is the bucket of a already"],
    ),
    "a cache that is none": (_object(cache="nvme"), ["storage.data.cache", "'local-nvme'"]),
    "a cold class after a day": (_object(cold_after_days=1), ["storage.data.cold_after_days", "30"]),
    "an archive right after the cold class": (
        _object(cold_after_days=60, archive_after_days=90),
        ["storage.data.archive_after_days", "less than 60 days after"],
    ),
    "a teardown that is none": (_object(teardown="drop"), ["storage.data.teardown", "'keep'"]),
    "a file system without a size": (
        _top(storage={"scratch": {"tier": "shared-filesystem"}}),
        ["storage.scratch", "capacity_gib is missing"],
    ),
    "a file system below nothing": (_shared(capacity_gib=-1), ["storage.scratch.capacity_gib"]),
    "a size in quotes": (_shared(capacity_gib="1200"), ["storage.scratch.capacity_gib"]),
    "a file system of a service that is none": (
        _shared(service="smb"),
        ["storage.scratch.service", "'lustre'"],
    ),
    "a file system in a zone of its own": (_shared(zone="use1-az9"), ["storage.scratch.zone", "no zone of"]),
    "a file system over a tier that is not there": (
        _shared(source="data"),
        ["storage.scratch.source", "there is no object tier data; there is none"],
    ),
    "disks twice": (
        _top(storage={"disks": {"tier": "block"}, "more": {"tier": "block"}}),
        ["storage.more", "a cluster has one such tier"],
    ),
    "no operations a second": (_block(iops=0), ["storage.disks.iops"]),
    "a team without a name": (_teams({"storage": []}), ["teams[0]", "name is missing"]),
    "a team with a name that is no namespace": (
        _teams({"name": "Vision_1"}),
        ["teams[0].name", "at most 24"],
    ),
    "a team twice": (_teams({"name": "a"}, {"name": "a"}), ["teams[1].name", "used twice"]),
    "a team named like the cluster's own": (
        _teams({"name": "kube-system"}),
        ["teams[0].name", "the cluster's own"],
    ),
    "a team over a tier that is not there": (
        _teams({"name": "a", "storage": ["dat"]}),
        ["teams[0].storage", "there is no tier dat; there is data"],
    ),
    "a team over everybody's disks": (
        _teams({"name": "a", "storage": ["disks"]}),
        ["teams[0].storage", "every team's already"],
    ),
    "a team that lists a tier twice": (
        _teams({"name": "a", "storage": ["data", "data"]}),
        ["teams[0].storage", "named twice"],
    ),
    "a wildcard repository": (_github(repository="example/*"), ["identity.github.repository", "no wildcard"]),
    "a repository's URL": (
        _github(repository="https://github.com/example/ml"),
        ["identity.github.repository", "no URL"],
    ),
    "a repository without its owner": (
        _github(repository="ml"),
        ["identity.github.repository", "owner/repos"],
    ),
    "a repository's clone URL": (
        _github(repository="example/ml.git"),
        ["identity.github.repository", ".git"],
    ),
    "a repository that is dots": (_github(repository="example/.."), ["identity.github.repository"]),
    "no environment": (_github(environments=[]), ["identity.github.environments", "at least 1"]),
    "a wildcard environment": (_github(environments=["*"]), ["identity.github.environments[0]"]),
    "an environment that imitates a subject": (
        _github(environments=["prod:ref"]),
        ["identity.github.environments[0]", "1 to 100 letters"],
    ),
    "an environment twice": (
        _github(environments=["prod", "Prod"]),
        ["identity.github.environments", "no notice of case"],
    ),
    "an owner's ID that is a name": (
        _github(owner_id="example", repository_id="1"),
        ["identity.github.owner_id", "a quoted number"],
    ),
    "an owner's ID without quotes": (
        _github(owner_id=9919, repository_id="1"),
        ["identity.github.owner_id", 'in quotes: "9919"'],
    ),
    "one number of two": (_github(owner_id="1"), ["identity.github.repository_id", "names both numbers"]),
    "immutable subjects without numbers": (
        _github(subjects="immutable"),
        ["identity.github.subjects", "gh api repos/OWNER/REPOSITORY"],
    ),
    "a session longer than AWS has": (
        _github(session_minutes=721),
        ["identity.github.session_minutes", "720"],
    ),
    "an issuer of one's own": (_github(issuer="https://example.com"), ["there is no key `issuer`"]),
    "an alert at nothing": (_budget(alert_percent=[0]), ["budget.alert_percent[0]"]),
    "alerts that fall": (_budget(alert_percent=[90, 50]), ["budget.alert_percent", "do not rise"]),
    "no alerts": (_budget(alert_percent=[]), ["budget.alert_percent", "at least 1"]),
    "five alerts": (_budget(alert_percent=[10, 20, 30, 40, 50]), ["budget.alert_percent", "at most 4"]),
    "a contact that is no address": (_budget(contacts=["finance"]), ["budget.contacts[0]", "e-mail address"]),
    "a contact twice": (_budget(contacts=["a@b.example", "A@b.example"]), ["budget.contacts", "twice"]),
    "a contact longer than AWS takes": (
        _budget(contacts=[f"{'a' * 45}@b.example"]),
        ["budget.contacts[0]", "at most 50"],
    ),
    "a currency in words": (_budget(currency="euro"), ["budget.currency"]),
    "a currency that AWS has no budgets in": (
        _budget(currency="EUR", monthly=100),
        ["budget.currency", "in US dollars"],
    ),
    "a currency without an amount": (_budget(currency="EUR"), ["budget.monthly", "no rate of exchange"]),
    "two amounts in dollars": (_budget(monthly=100), ["budget.monthly", "monthly_usd says it already"]),
    "a billing account on AWS": (
        _budget(billing_account="012345-6789AB-CDEF01"),
        ["budget.billing_account", "only Google Cloud"],
    ),
    "an admin that is a wildcard": (
        lambda platform: platform["cluster"].update(admins=["arn:aws:iam::123456789012:role/*"]),
        ["cluster.admins[0]", "an IAM role or user ARN"],
    ),
    "a viewer twice": (
        lambda platform: platform["cluster"].update(viewers=["arn:aws:iam::123456789012:role/eyes"] * 2),
        ["cluster.viewers[1]", "named twice"],
    ),
    "an uptime that is none": (_top(uptime="always"), ["uptime", "weekdays 08:00-19:00 Europe/Berlin"]),
    "an uptime in no time zone": (_top(uptime="daily 08:00-19:00 Mars/Base"), ["uptime", "no time zone"]),
    "an hour that is none": (_top(uptime="daily 08:00-24:00 UTC"), ["uptime", "hours go from 00 to 23"]),
    "a day that is none": (_top(uptime="mo-fr 08:00-19:00 UTC"), ["uptime", "'mo-fr' is no day"]),
    "a viewer that is no ARN": (
        _viewers("arn:aws:iam::123456789012:role/preview", "me"),
        ["cluster.viewers[1]", "'me' is not an IAM role or user ARN"],
    ),
    "a viewer that is a session": (
        _viewers("arn:aws:sts::123456789012:assumed-role/preview/job"),
        ["cluster.viewers[0]", "IAM role or user ARN"],
    ),
    "a viewer who administers": (
        lambda platform: platform["cluster"].update(viewers=platform["cluster"]["admins"][:1]),
        ["cluster.viewers[0]", "is in cluster.admins already"],
    ),
    "viewers that are one text": (
        lambda platform: platform["cluster"].update(viewers="arn:aws:iam::123456789012:role/preview"),
        ["cluster.viewers"],
    ),
    "an uptime of no length": (
        _top(uptime="daily 08:00-08:00 UTC"),
        ["uptime", "begins and ends at one time"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_has_its_own_sentence(case: str, loaded: Loaded) -> None:
    change, expected = CASES[case]
    with pytest.raises(ConfigError) as raised:
        loaded(change)
    message = str(raised.value)
    assert message.startswith("Pulumi.s.yaml")
    for part in expected:
        assert part in message


def test_a_budget_of_google_s_needs_the_account_that_pays(loaded: Loaded) -> None:
    with pytest.raises(ConfigError, match="billing_account is missing"):
        loaded(lambda platform: platform["budget"].pop("billing_account"), sample="gcp-dev")


def test_only_aws_has_one_provider_for_a_whole_account(loaded: Loaded) -> None:
    assert loaded(_github(create_provider=False)).identity is not None
    for sample in ("azure-dev", "gcp-dev"):
        with pytest.raises(ConfigError, match="only an AWS account"):
            loaded(_github(create_provider=False), sample=sample)


@pytest.mark.parametrize(
    ("sample", "viewer", "wanted"),
    [
        ("azure-dev", "group:lookers@example.com", "the object ID of an Entra group"),
        ("gcp-dev", "lookers@example.com", "an IAM member"),
    ],
)
def test_a_viewer_is_named_as_an_admin_is(sample: str, viewer: str, wanted: str, loaded: Loaded) -> None:
    with pytest.raises(ConfigError, match=wanted) as raised:
        loaded(_viewers(viewer), sample=sample)
    assert "cluster.viewers[0]" in str(raised.value)


@pytest.mark.parametrize("sample", ["aws-dev", "azure-dev", "gcp-dev"])
def test_nobody_looks_who_is_not_named(sample: str, loaded: Loaded) -> None:
    assert loaded(sample=sample).cluster.viewers == ()


@pytest.mark.parametrize("sample", ["aws-dev", "azure-dev", "gcp-dev"])
def test_what_is_right_is_taken_as_it_is_written(sample: str, loaded: Loaded) -> None:
    storage = {
        "data": {"tier": "object", "cold_after_days": 30, "archive_after_days": 90},
        "disks": {"tier": "block", "teardown": "delete"},
    }
    github = {
        "repository": "Example-Org/ml.platform_2",
        "environments": ["prod", "staging.eu-1"],
        "owner_id": "9919",
        "repository_id": "123456",
        "subjects": "both",
        "session_minutes": 720,
    }
    config = loaded(
        _top(
            storage=storage,
            teams=[{"name": "vision", "storage": ["data"]}, {"name": "a"}],
            identity={"github": github},
            uptime="mon-thu,sat 08:00-19:00 Europe/Berlin",
        ),
        sample=sample,
    )
    assert set(config.storage) == {"data", "disks"}
    assert config.storage["data"].teardown == "keep"
    assert config.identity is not None
    assert config.identity.github.environments == ("prod", "staging.eu-1")
    assert [team.name for team in config.teams] == ["vision", "a"]
    assert config.uptime is not None
    assert config.uptime.days == {0, 1, 2, 3, 5}


@pytest.mark.parametrize("order", [("data", "archive", "disks"), ("disks", "data", "archive")])
def test_tiers_come_by_name_since_the_engine_sorts_a_mapping(loaded: Loaded, order: tuple[str, ...]) -> None:
    kinds = {"data": "object", "archive": "object", "disks": "block"}
    config = loaded(_top(storage={name: {"tier": kinds[name]} for name in order}, teams=[]))
    assert list(config.storage) == ["archive", "data", "disks"]
