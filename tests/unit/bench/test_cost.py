"""The cost model: sums follow prices, and every operation that it promises is measured."""

import pytest

from bench import cost, cost_page, prices
from bench.prices import IDLE, PRICES, Usage, glue_run, idle_month, server_month, total

OPERATIONS = {
    "stat by commit ID",
    "stat via a branch",
    "list 1,000 objects via a branch",
    "get physical address",
    "link",
    "get 1,000 addresses with URLs",
    "link 1,000",
    "upload of 1 KB",
    "delete",
    "create branch",
    "commit of 1",
    "commit of 100",
    "cleanup after a commit of 1",
    "cleanup after a commit of 100",
    "commit of 100, anywhere",
    "commit of 300 by a task",
    "merge of 100",
    "log of 100 commits",
}


def test_a_sum_is_what_each_service_asks():
    usage = Usage(read_units=8e6, write_units=2e6, s3_writes=1000, s3_reads=1000, requests=0)
    parts = prices.cost(usage)
    assert parts["DynamoDB"] == pytest.approx(1.00 + 1.25)
    assert parts["S3"] == pytest.approx(0.005 + 0.0004)
    assert "API Gateway" not in parts
    assert total(usage) == pytest.approx(sum(parts.values()))


def test_a_function_is_paid_for_while_it_waits():
    assert Usage(cpu_ms=10, requests=0).lambda_ms() == 10
    alone = Usage(cpu_ms=10, s3_reads=64, requests=0)
    assert alone.lambda_ms(s3_at_once=64) < alone.lambda_ms() / 10
    second = Usage(cpu_ms=1000, requests=0)
    expected = 1769 / 1024 * PRICES["Lambda GB-second, arm64"]
    assert prices.cost(second)["Lambda"] == pytest.approx(expected)


def test_what_runs_in_the_background_pays_for_no_request():
    usage = Usage(write_units=1)
    assert total(usage) - total(usage.in_background()) > PRICES["API Gateway request, HTTP API"]


def test_shares_of_the_mix_make_a_whole_of_operations_that_there_are():
    assert sum(cost_page.MIX.values()) == pytest.approx(1)
    assert cost_page.MIX.keys() <= OPERATIONS


def test_a_mix_costs_what_its_operations_do():
    found = {name: Usage(write_units=number) for number, name in enumerate(sorted(OPERATIONS))}
    found["cleanup after a commit of 100"] = Usage(write_units=100, requests=0)
    whole = cost_page.mixed(found, 1000)
    assert whole.requests == pytest.approx(1000)
    units = sum(share * 1000 * found[name].write_units for name, share in cost_page.MIX.items())
    assert whole.write_units == pytest.approx(units + 1000 * 0.002 * 100)


def test_an_idle_month_is_cheaper_than_a_server():
    parts = idle_month(IDLE)
    assert parts["key"] + parts["secrets"] == pytest.approx(1.40)
    assert sum(parts.values()) < server_month() / 10


def test_the_setting_traces_every_request_until_there_is_more_than_one_a_second():
    assert prices.traces(1e6) == 1e6
    # A month has 2,628,000 seconds; of the other requests, one in twenty is traced.
    assert prices.traces(2.628e6 + 1e6) == pytest.approx(2.628e6 + 50_000)


def test_a_job_pays_for_a_minute_at_least():
    assert glue_run(2, 0.2) == glue_run(2, 1) == pytest.approx(2 / 60 * 0.44)
    assert glue_run(10, 60) == pytest.approx(4.40)


@pytest.mark.server
@pytest.mark.long
def test_every_operation_is_measured_and_told(capsys):
    sizes = ["--objects", "3000", "--exported", "20", "--by-a-task", "300"]
    cost.main([*sizes, "--committed", "1", "100"])
    shown = capsys.readouterr().out
    rows = [line.split(" | ") for line in shown.splitlines() if line.startswith("| ")]
    figures = {row[0].removeprefix("| "): row[1:] for row in rows[1:]}
    assert figures.keys() == OPERATIONS
    read_units, write_units, puts, *_ = figures["link"]
    assert (read_units, write_units, puts) == ("3", "4", "0")
    assert figures["upload of 1 KB"][2] == "1"
    for line in ("a million requests of the mix", "an export of 100,000 objects", "an idle month"):
        assert f"\n{line}: " in shown
