"""Firewalls that let the whole internet in where only administrators or neighbours belong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gpuplatform.guardrails import Unknown
from gpuplatform.guardrails.resources import props
from gpuplatform.security.finding import Case, Finding
from gpuplatform.security.read import mappings, on, texts_at, to_everyone

__all__ = ["ADMIN_PORTS", "READERS"]

ADMIN_PORTS: Final[Mapping[int, str]] = {
    21: "FTP",
    22: "SSH",
    23: "Telnet",
    111: "RPC",
    135: "RPC",
    445: "SMB",
    988: "Lustre",
    1433: "SQL Server",
    1521: "Oracle",
    2049: "NFS",
    2375: "Docker",
    2376: "Docker",
    2379: "etcd",
    2380: "etcd",
    3306: "MySQL",
    3389: "RDP",
    5432: "PostgreSQL",
    5900: "VNC",
    5985: "WinRM",
    5986: "WinRM",
    6379: "Redis",
    6443: "the Kubernetes API",
    8265: "Ray",
    8888: "Jupyter",
    9200: "Elasticsearch",
    10250: "kubelet",
    11211: "memcached",
    27017: "MongoDB",
}
"""Ports on which one administers, or reaches data, and no public service listens."""

_WAY_OUT: Final = "name the address ranges, or another group, that need it"
_HARMLESS: Final = frozenset({"icmp", "icmpv6", "1", "58", "esp", "ah"})
_ALL: Final = frozenset({"-1", "*", "all", "any"})
_LAST: Final = 65_535

Ports = tuple[int, int]


def _judge(case: Case, protocol: str | Unknown, ports: list[Ports] | Unknown) -> Iterator[Finding]:
    """A rule that is open to everybody, by what it opens."""
    if isinstance(protocol, str) and protocol.casefold() in _HARMLESS:
        return
    if isinstance(protocol, Unknown) or isinstance(ports, Unknown):
        yield case.undecided("open-port", ports if isinstance(ports, Unknown) else protocol)
        return
    if (0, _LAST) in ports or (1, _LAST) in ports:
        yield case.fail("open-port", "lets the whole internet in on every port", _WAY_OUT)
        return
    hit = sorted({port for port in ADMIN_PORTS for first, last in ports if first <= port <= last})
    if hit:
        names = ", ".join(f"{port} ({ADMIN_PORTS[port]})" for port in hit[:3])
        more = f" and {len(hit) - 3} more" if len(hit) > 3 else ""  # noqa: PLR2004 - three are read, thirty are not
        yield case.fail("open-port", f"lets the whole internet in on port {names}{more}", _WAY_OUT)


def _sources(sources: list[str], unknown: Unknown | None) -> bool | Unknown:
    if any(map(to_everyone, sources)):
        return True
    return unknown or False


def _aws_rule(
    case: Case, rule: Mapping[str, Any], cidrs: tuple[str, ...], protocol: str
) -> Iterator[Finding]:
    found: list[str] = []
    hidden: Unknown | None = None
    for key in cidrs:
        texts, unknown = texts_at(rule, key)
        found += texts
        hidden = hidden or unknown
    yield from _open(case, _sources(found, hidden), props.text(rule, protocol), _aws_ports(rule, protocol))


def _open(
    case: Case,
    open_: bool | Unknown,
    protocol: str | Unknown,
    ports: list[Ports] | Unknown,
) -> Iterator[Finding]:
    if open_ is True:
        yield from _judge(case, protocol, ports)
    elif isinstance(open_, Unknown) and any(True for _ in _judge(case, protocol, ports)):
        yield case.undecided("open-port", open_)


def _aws_ports(rule: Mapping[str, Any], protocol: str) -> list[Ports] | Unknown:
    if str(props.value(rule, protocol)).casefold() in _ALL:
        return [(0, _LAST)]
    first, last = (props.number(rule, key, default=0) for key in ("fromPort", "toPort"))
    if isinstance(first, Unknown) or isinstance(last, Unknown):
        # -1 stands for every ICMP type, or every port.
        wild = props.value(rule, "fromPort") == -1
        return [(0, _LAST)] if wild else Unknown("fromPort or toPort")
    return [(first, last)]


def _security_group(case: Case) -> Iterator[Finding]:
    rules, unknown = mappings(case.raw.props, "ingress")
    for rule in rules:
        yield from _aws_rule(case, rule, ("cidrBlocks", "ipv6CidrBlocks"), "protocol")
    if unknown:
        yield case.undecided("open-port", unknown)


def _security_group_rule(case: Case) -> Iterator[Finding]:
    kind = props.text(case.raw.props, "type")
    if kind != "egress":
        yield from _aws_rule(case, case.raw.props, ("cidrBlocks", "ipv6CidrBlocks"), "protocol")


def _ingress_rule(case: Case) -> Iterator[Finding]:
    yield from _aws_rule(case, case.raw.props, ("cidrIpv4", "cidrIpv6"), "ipProtocol")


def _azure_group(case: Case) -> Iterator[Finding]:
    rules, unknown = mappings(case.raw.props, "securityRules")
    for rule in rules:
        yield from _azure_rule(case, rule)
    if unknown:
        yield case.undecided("open-port", unknown)


def _azure_single(case: Case) -> Iterator[Finding]:
    yield from _azure_rule(case, case.raw.props)


def _azure_rule(case: Case, rule: Mapping[str, Any]) -> Iterator[Finding]:
    access, direction = (props.text(rule, key) for key in ("access", "direction"))
    if str(access).casefold() == "deny" or str(direction).casefold() == "outbound":
        return
    one, first = texts_at(rule, "sourceAddressPrefix")
    many, second = texts_at(rule, "sourceAddressPrefixes")
    ranges, third = texts_at(rule, "destinationPortRange")
    more, fourth = texts_at(rule, "destinationPortRanges")
    ports: list[Ports] | Unknown = _ranges(ranges + more) or third or fourth or []
    yield from _open(case, _sources(one + many, first or second), props.text(rule, "protocol"), ports)


def _ranges(texts: list[str]) -> list[Ports]:
    found = []
    for text in texts:
        first, dash, last = text.strip().partition("-")
        if text.strip() in _ALL:
            found.append((0, _LAST))
        elif first.isdecimal() and (not dash or last.isdecimal()):
            found.append((int(first), int(last) if dash else int(first)))
    return found


def _firewall(case: Case) -> Iterator[Finding]:
    source = case.raw.props
    if str(props.text(source, "direction")).upper() == "EGRESS" or on(source, "disabled") is True:
        return
    sources, unknown = texts_at(source, "sourceRanges")
    tied = any(source.get(key) for key in ("sourceRanges", "sourceTags", "sourceServiceAccounts"))
    if not tied:
        # What the API takes it for (https://cloud.google.com/firewall/docs/firewalls#sources).
        sources = ["0.0.0.0/0"]
    allows, hidden = mappings(source, "allows")
    for allow in allows:
        texts, unread = texts_at(allow, "ports")
        ports: list[Ports] | Unknown = _ranges(texts) or unread or [(0, _LAST)]
        yield from _open(case, _sources(sources, unknown), props.text(allow, "protocol"), ports)
    if hidden:
        yield case.undecided("open-port", hidden)


READERS: Final = {
    "aws:ec2/securityGroup:SecurityGroup": (_security_group,),
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": (_security_group,),
    "aws:ec2/securityGroupRule:SecurityGroupRule": (_security_group_rule,),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": (_ingress_rule,),
    "azure-native:network:NetworkSecurityGroup": (_azure_group,),
    "azure-native:network:SecurityRule": (_azure_single,),
    "gcp:compute/firewall:Firewall": (_firewall,),
}
