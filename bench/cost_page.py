"""Writes the figures of docs/cost.md: `python -m bench.cost_page`, or `make docs`.

The usage of each operation was measured by `python -m bench.cost`, which stores it in
bench/results/cost.json. `bench/prices.py` has the prices. Parts of the page between two markers are
made from these; a test compares them.
"""

# ruff: noqa: E501 - sentences

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from bench import prices
from bench.prices import PRICES, Idle, Usage, cost, idle_month, logs_of_request, total

_ROOT = Path(__file__).parents[1]
PAGE = _ROOT / "docs" / "cost.md"
RESULTS = _ROOT / "bench" / "results" / "cost.json"

BY_A_TASK = " by a task"
EXPORT_AT_ONCE = 64  # a test compares it with the setting
# As docs/limits.md says of one branch: what a partition of DynamoDB takes.
_DROPPED_A_SECOND = 1_000
_DROPPING_CPU_S = 190

# Requests to a lake that is read more than written, with as many changes as its commits take. The
# bytes of objects go by presigned URL: S3's requests for them come on top with any system.
MIX: Mapping[str, float] = {
    "stat by commit ID": 0.10,
    "stat via a branch": 0.458,
    "list 1,000 objects via a branch": 0.05,
    "get physical address": 0.18,
    "link": 0.18,
    "delete": 0.03,
    "commit of 100": 0.002,
}

_WIDTH = 120


# Measured usage


def store(found: Mapping[str, Usage], exported: Usage) -> None:
    """Store the measured usage of each operation, and that of an object's export."""
    usages = {**found, "export of an object": exported}
    RESULTS.write_text(json.dumps({name: asdict(each) for name, each in usages.items()}, indent=1))


def stored() -> tuple[dict[str, Usage], Usage]:
    """Return the stored usage of each operation, and that of an object's export."""
    found = {name: Usage(**each) for name, each in json.loads(RESULTS.read_text()).items()}
    return found, found.pop("export of an object")


def mixed(found: Mapping[str, Usage], requests: float) -> Usage:
    """Return the usage of so many requests of the mix, with the cleanup after their commits."""
    made = Usage(requests=0)
    for name, share in MIX.items():
        made += found[name].times(share * requests)
    cleanup = found["cleanup after a commit of 100"]
    return made + cleanup.times(MIX["commit of 100"] * requests)


# Parts of the page


def rows(found: Mapping[str, Usage]) -> Iterator[str]:
    """Yield the table of operations as Markdown."""
    yield "| operation | RRU | WRU | S3 PUT | S3 GET | Lambda, ms | USD a million |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, usage in found.items():
        numbers = (usage.read_units, usage.write_units, usage.s3_writes, usage.s3_reads)
        cells = [f"{number:,.1f}".removesuffix(".0") for number in numbers]
        cells += [f"{usage.lambda_ms():,.0f}", f"{1e6 * total(usage):,.2f}"]
        yield f"| {name} | {' | '.join(cells)} |"


def _idle() -> Iterator[str]:
    """Yield what deployments cost without requests."""
    parts = idle_month(prices.IDLE)
    token = PRICES["Secrets Manager secret and month"]
    yield (
        f"**An idle deployment** costs {_month(prices.IDLE)} USD a month in `dev`. The parts are key "
        f"{parts['key']:.2f}, setup token {token:.2f}, {prices.IDLE.alarms} alarms "
        f"{parts['alarms']:.2f}, Lambda's polling of {prices.IDLE.queues} queues "
        f"{parts['looking into the queues']:.2f}, and the cleanup {parts['cleanup']:.2f}. When the "
        f"token has been used, [`setup_token=none`](deploy.md#remove-the-setup-token) saves its "
        f"{token:.2f}. Places for `exports` add a polled queue: "
        f"{parts['looking into the queues'] / prices.IDLE.queues:.2f}. The key costs 1.00 more after "
        "its first yearly rotation, and 2.00 after its second [K]. A dashboard beyond an account's "
        "first three costs 3 USD. Scheduled collections come on top, "
        f"{prices.glue_run(2, 5):.2f} USD or more each. The free tier pays for some of it."
    )
    parts = idle_month(prices.PROD)
    yield (
        f"**`prod`** costs {_month(prices.PROD)} USD a month while idle, for its alarms on "
        f"{prices.PROD.alarms} metrics: {parts['alarms']:.2f}, and the metric of one "
        f"{parts['metrics']:.2f}. With `alarms=symptoms`, as in `dev`, prod costs the same as dev."
    )
    parts = idle_month(prices.ECONOMY)
    yield (
        f"**With `economy`**, an idle deployment costs {_month(prices.ECONOMY)} USD a month, and "
        f"{sum(parts.values()) - token:.2f} with `setup_token=none` "
        "([what it lacks](deploy.md#economy)). The parts are the secret of the cipher "
        f"{token:.2f}, setup token {token:.2f}, three alarms {parts['alarms']:.2f}, a polled queue "
        f"{parts['looking into the queues']:.2f}, the cleanup {parts['cleanup']:.2f}. Where nothing "
        "else uses the account's free tier, that pays for the alarms and the queue."
    )


def _requests(found: Mapping[str, Usage]) -> Iterator[str]:
    """Yield what requests cost."""
    parts = cost(mixed(found, 1e6))
    million, traced = sum(parts.values()), 1e6 * PRICES["X-Ray trace"]
    named = ("API Gateway", "DynamoDB", "Lambda", "logs", "S3")
    listed = ", ".join(f"{name} {parts[name]:.2f}" for name in named)
    in_dev = logs_of_request()
    with_access_log = logs_of_request(has_access_log=True)
    in_prod = logs_of_request(has_metrics=True, has_access_log=True)
    forwarded = logs_of_request(has_metrics=True, has_access_log=True, is_standard=True)
    kinds = [PRICES[f"API Gateway request, {kind} API"] for kind in ("REST", "HTTP")]
    yield (
        f"**A million requests** a month cost {million:.2f} USD in `dev`: {listed}. In `prod` they cost "
        f"{million + 1e6 * (in_prod - in_dev):.2f}. The [access log](deploy.md#logs) costs "
        f"{1e6 * (with_access_log - in_dev):.2f} of the difference. The other "
        f"{1e6 * (in_prod - with_access_log):.2f} are because a line with metrics is longer, and is "
        f"never of the class Infrequent Access. With `metrics=none` prod's cost "
        f"{million + 1e6 * (with_access_log - in_dev):.2f}, and with `access_log=false` as much as "
        f"dev's. `log_class=standard` adds {1e6 * (logs_of_request(is_standard=True) - in_dev):.2f} in "
        f"dev and {1e6 * (forwarded - in_prod):.2f} in prod. "
        f"A [REST API](deploy.md#private-networks) costs {1e6 * (kinds[0] - kinds[1]):.2f} more. "
        "The mix is 46 % stat and 5 % list via a branch, and 10 % stat by commit ID. 18 % each are "
        "addresses and links (uploads), 3 % deletions, and 0.2 % commits of 100. Object bytes travel "
        "by presigned URL at S3's price (5.00 USD a million PUTs, 0.40 GETs), as without Graveler."
    )
    yield (
        f"**Traces** of a million requests cost {traced:.2f} more: `traces=true` traces the first "
        "request of each second and 5 % of the others. Above a request a second, each further "
        f"million costs {prices.TRACED_SHARE * traced:.2f}."
    )


def _commits(found: Mapping[str, Usage]) -> Iterator[str]:
    """Yield what commits cost."""
    each = {
        changes: sum(
            total(found[f"{what}commit of {changes:,}"]) for what in ("", "cleanup after a ")
        )
        for changes in (1, 100, 10_000)
    }
    one_by_one = 1000 * (total(found["get physical address"]) + total(found["link"]))
    at_once = total(found["get 1,000 addresses with URLs"]) + total(found["link 1,000"])
    yield (
        f"**A commit** costs what it changes. With its cleanup, a commit of one object costs "
        f"{each[1]:.6f} USD, most of it for the 25 gates of its token. 100 neighbours cost "
        f"{each[100]:.5f}, 10,000 cost {each[10_000]:.4f}. Most of a large commit's cost is dropping "
        "its staged changes afterwards, at one write unit each. Staging costs "
        f"{one_by_one:.4f} USD per thousand uploads (address and link) on top, or {at_once:.4f} if "
        "[two requests](api.md#many-direct-writes-in-one-request) do it for all. Each change in a "
        "distant part of a repository rewrites a range of its own."
    )


def _exports(exported: Usage) -> Iterator[str]:
    """Yield what exports and garbage collections cost."""
    yield (
        "**An export** of 100,000 objects costs "
        f"{total(exported.times(100_000), EXPORT_AT_ONCE):.2f} USD, for a COPY request and a HEAD of "
        "each. A [whole export](continuous-export.md#what-is-exported-and-when) of objects that are "
        "there lists them instead, for 0.0005. Traffic across regions costs extra."
    )
    yield (
        "**A garbage collection** costs Glue's minutes, each time it runs (`gc_schedule`). Two "
        f"workers and five minutes (up to some millions of objects) are {prices.glue_run(2, 5):.2f} "
        f"USD, ten workers and an hour {prices.glue_run(10, 60):.2f}. Listing costs 0.005 USD per "
        "million objects (an S3 Inventory 0.0025). Reading a range costs a GET; deleting is free. "
        "By a [model](adr/0047-a-collection-remembers-nothing.md), 100,000 branches over 200 million "
        "objects cost 2.82 USD a run, and 1.55 with an inventory."
    )


def _servers(found: Mapping[str, Usage]) -> Iterator[str]:
    """Yield what the S3 gateway costs, and a server of lakeFS."""
    parts = prices.gateway_month(is_public=True)
    internal = prices.gateway_month(is_public=False)
    ways = prices.ways_out_month()
    yield (
        "**The S3 gateway on Fargate** is deployed by the "
        "[setting `gateway`](deploy.md#the-s3-gateway-on-fargate) only. It costs "
        f"{sum(parts.values()):.2f} USD a month while idle. The parts are two tasks of half a "
        f"processor and 1 GB {parts['tasks']:.2f}, the load balancer {parts['load balancer']:.2f}, "
        f"four public addresses {parts['addresses']:.2f}, four alarms {parts['alarms']:.2f}. With "
        f"`gateway=internal` there are no addresses: {sum(internal.values()):.2f}. A terabyte through "
        f"the load balancer costs {1000 * PRICES['Network load balancer GB']:.2f}, and each further "
        f"task {parts['tasks'] / 2:.2f} a month. Clients of the region pay 0.01 USD a GB in each "
        "direction to a public gateway. They pay nothing to an internal one in their zone. Requests "
        "to DynamoDB and S3 come on top."
    )
    yield (
        "**The gateway's way to AWS's services.** S3 and DynamoDB have gateway endpoints, which cost "
        "nothing. For the registry, logs and KMS, public addresses of two tasks cost "
        f"{ways['addresses']:.2f} USD a month. Four interface endpoints in two zones would cost "
        f"{ways['endpoints']:.2f}, and two NAT gateways {ways['NAT gateways']:.2f}. So tasks of the "
        "own VPC have addresses, to which no client can connect."
    )
    server = prices.server_month()
    even = (server - sum(idle_month(prices.IDLE).values())) / total(mixed(found, 1))
    yield (
        "**A lakeFS server** that survives the loss of a zone costs about "
        f"{server:.0f} USD a month, used or not. It is two tasks of one processor and 2 GB, a load "
        f"balancer, four public addresses, and the same stores. About {even / 1e6:.0f} million "
        "requests of the mix cost as much here. A server needs DynamoDB and S3 requests for them "
        "too, so the real break-even is higher."
    )


def _million(found: Mapping[str, Usage]) -> Iterator[str]:
    """Yield the rows of the large commit that were derived from others."""
    at_once = found["get 1,000 addresses with URLs"] + found["link 1,000"]
    one_by_one = found["get physical address"] + found["link"]
    dropping = Usage(write_units=1e6, read_units=45_000, cpu_ms=1e9 / _DROPPED_A_SECOND, requests=0)
    yield "| part of staging and dropping | usage | USD |"
    yield "|---|---|---:|"
    yield (
        "| staging: a million addresses and links | two requests for a thousand objects | "
        f"{1000 * total(at_once):.2f} |"
    )
    yield f"| the same, one by one | two requests each | ({1e6 * total(one_by_one):.2f}) |"
    yield (
        "| dropping the staged changes, four hours later | a million WRU, 45,000 RRU, 1,000 s of "
        f"the cleanup, which waits for {1000 - _DROPPING_CPU_S} s of them | {total(dropping):.2f} |"
    )


def _month(idle: Idle) -> str:
    return f"{sum(idle_month(idle).values()):.2f}"


def _bullets(sentences: Iterator[str]) -> Iterator[str]:
    for each in sentences:
        whole_links = re.sub(r"\[[^]]*\]\(", lambda found: found[0].replace(" ", "\0"), f"- {each}")
        yield textwrap.fill(
            whole_links,
            _WIDTH,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        ).replace("\0", " ")


def made(page: str) -> str:
    """Return the page's text with the figures of the stored usage and the known prices."""
    found, exported = stored()
    parts: Mapping[str, Callable[[], Iterator[str]]] = {
        "operations": lambda: rows(found),
        "idle": lambda: _bullets(_idle()),
        "requests": lambda: _bullets(_requests(found)),
        "commits": lambda: _bullets(_commits(found)),
        "exports": lambda: _bullets(_exports(exported)),
        "servers": lambda: _bullets(_servers(found)),
        "million": lambda: _million(found),
    }
    for name, lines in parts.items():
        begin, end = f"<!-- {name}: written by make docs -->\n", f"<!-- end of {name} -->"
        pattern = re.compile(f"({re.escape(begin)}).*?({re.escape(end)})", re.DOTALL)
        text = "".join(f"{line}\n" for line in lines())
        *before, after = pattern.split(page)
        assert len(before) == 3, f"docs/cost.md has no part {name}, or two"
        page = f"{before[0]}{before[1]}{text}{before[2]}{after}"
    return page


def main() -> None:
    """Write the page's figures."""
    PAGE.write_text(made(PAGE.read_text()))


if __name__ == "__main__":
    main()
