"""Conditions of statements: they compare facts about a request with values and patterns.

A statement applies only if all of its conditions hold. In a condition, one of the values of each
field must match; if the operator is negated, none. A field that the request lacks makes the
condition false, negated or not, as in lakeFS.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from graveler.access.policy import Conditions
from graveler.access.wildcards import compiled

# Facts about a request, by the name of their field.
Facts = Mapping[str, str]
Holds = Callable[[Facts], bool]

# The address from which the request came.
SOURCE_IP = "SourceIp"
# The facts that Graveler knows, and the beginning of those of lakeFS's Iceberg catalog. Graveler
# does not serve that catalog: a condition on its facts is false.
FIELDS = (SOURCE_IP,)
CATALOG_FIELDS = "catalog:"

_Network = IPv4Network | IPv6Network
_MAPPED = IPv6Network("::ffff:0:0/96")


class UndecidableError(Exception):
    """Whether a condition holds cannot be said; the message says why."""


def network_of(text: str) -> _Network:
    """Return the addresses that a text names: one address, or a block as `10.0.0.0/8`.

    Raises:
        ValueError: the text is neither.
    """
    network = ip_network(text.strip(), strict=False)
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        # IPv4 addresses, written as IPv6 ones.
        first = network.network_address.ipv4_mapped
        return IPv4Network((int(first or 0), network.prefixlen - _MAPPED.prefixlen))
    return network


@lru_cache(maxsize=1024)
def _number_of(address: str) -> tuple[int, int]:
    """Return the version of an address and its number; the requests of a user come from few.

    Raises:
        ValueError: the text is no address.
    """
    found = ip_address(address)
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or found
    return found.version, int(found)


def _is_in_networks(values: Sequence[str]) -> Callable[[str], bool]:
    try:
        networks = [network_of(value) for value in values]
    except ValueError as error:
        raise UndecidableError(str(error)) from error
    blocks = [
        (network.version, int(network.netmask), int(network.network_address))
        for network in networks
    ]

    def is_in(text: str) -> bool:
        try:
            version, number = _number_of(text)
        except ValueError as error:
            raise UndecidableError(str(error)) from error
        # Loops, here and below: each request may check dozens, and a generator costs more.
        for of_version, mask, first in blocks:
            if number & mask == first and version == of_version:
                return True
        return False

    return is_in


def _is_like(values: Sequence[str]) -> Callable[[str], bool]:
    patterns = [compiled(value) for value in values]
    return lambda text: any(matches(text) for matches in patterns)


# Each operator: what makes the comparison of a field from the values, and whether it is negated.
OPERATORS: Mapping[str, tuple[Callable[[Sequence[str]], Callable[[str], bool]], bool]] = {
    "IpAddress": (_is_in_networks, False),
    "NotIpAddress": (_is_in_networks, True),
    "StringLike": (_is_like, False),
    "StringNotLike": (_is_like, True),
}


def holding(conditions: Conditions) -> Holds | None:
    """Return whether all conditions hold, as a function of the facts; None without conditions.

    The function raises UndecidableError if an operator is unknown, or if a value or a fact should
    be an address and is not.
    """
    if not conditions:
        return None
    if unknown := conditions.keys() - OPERATORS.keys():
        return _undecidable(f"unknown operator {min(unknown)!r}")
    try:
        comparisons = [
            (name, OPERATORS[operator][0](values), OPERATORS[operator][1])
            for operator, fields in conditions.items()
            for name, values in fields.items()
        ]
    except UndecidableError as error:
        return _undecidable(str(error))

    def hold(facts: Facts) -> bool:
        for name, matches, is_negated in comparisons:
            if name not in facts or matches(facts[name]) is is_negated:
                return False
        return True

    return hold


def _undecidable(reason: str) -> Holds:
    def hold(facts: Facts) -> bool:  # noqa: ARG001 - no facts can help
        raise UndecidableError(reason)

    return hold
