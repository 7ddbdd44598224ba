"""The model of DynamoDB that functions are played over: units, partitions, conflicts."""

import pytest

from bench.scale.dynamodb import REFS, STAGING, ModelOfDynamoDB
from bench.scale.functions import World, virtual
from bench.scale.partitions import PARTITION_WRITES_S, Bucket, Demand, Partitions, hashed
from bench.scale.run import SCENARIOS, Scenario, State, main, played
from bench.scale.scenarios import one_branch
from bench.scale.units import demands, read_units, write_units
from bench.scale.virtual_time import VirtualTime
from graveler.branches.views import ObjectStat
from graveler.engine import Engine
from graveler.model.tokens import Spread
from graveler.operations import branches, commits, links, merges, objects, repositories, writes
from graveler.staging.listing import PageQuery
from tests.simulation.database import tables_of
from tests.support.fakes.dynamodb.service import Service


@pytest.mark.parametrize(("size", "units"), [(0, 1), (1024, 1), (1025, 2), (409_600, 400)])
def test_a_write_costs_a_unit_for_each_kilobyte(size, units):
    assert write_units(size) == units


@pytest.mark.parametrize(("size", "units"), [(0, 1), (4096, 1), (4097, 2)])
def test_a_read_costs_a_unit_for_each_4_kilobytes_and_half_if_it_may_be_late(size, units):
    assert read_units(size, is_consistent=True) == units
    assert read_units(size, is_consistent=False) == units / 2


def _staged(path: str, size: int = 10) -> dict[str, dict[str, str]]:
    return {"token": {"S": "t"}, "path": {"B": path}, "value": {"B": "A" * size}}


def test_each_part_of_a_request_has_its_units():
    service = Service()
    tables_of(service).create()
    small, large = _staged("YQ=="), _staged("Yg==", 4 * 1024)
    service.answer("PutItem", {"TableName": STAGING, "Item": large})
    keys = [{name: item[name] for name in ("token", "path")} for item in (small, large)]
    check = {"TableName": STAGING, "Key": keys[0]}

    def units(operation, request):
        return [part.units for part in demands(service, operation, request)]

    put = {"Put": {"TableName": STAGING, "Item": large}}
    assert units("TransactWriteItems", {"TransactItems": [put, {"ConditionCheck": check}]}) == [
        8,
        2,
    ]
    # What is replaced or deleted counts, too.
    assert units("PutItem", {"TableName": STAGING, "Item": _staged("Yg==")}) == [4]
    deletions = [{"DeleteRequest": {"Key": key}} for key in keys]
    assert units("BatchWriteItem", {"RequestItems": {STAGING: deletions}}) == [1, 4]
    both = {"Keys": keys, "ConsistentRead": True}
    assert units("BatchGetItem", {"RequestItems": {STAGING: both}}) == [1, 1]
    assert units("GetItem", {"TableName": STAGING, "Key": keys[1]}) == [0.5]


def test_a_bucket_serves_its_rate_and_saves_no_more_than_its_burst():
    bucket, served = Bucket(100, 1.0), 0
    for step in range(5_000):
        if bucket.has_units(100 + step / 500):
            bucket.take(4)
            served += 4
    assert served == pytest.approx(100 + 10 * 100, abs=8)


def _rate(partitions: Partitions, keys, seconds=120, tries_s=3_000) -> float:
    """Return the units a second that are served of writes of the keys, in the last fifth."""
    served = 0
    for step in range(seconds * tries_s):
        now_s = step / tries_s
        demand = Demand(STAGING, (hashed(b"token"), next(keys)), 2, is_write=True)
        if partitions.admits(demand, now_s):
            partitions.take(demand)
            served += 2 * (now_s >= 0.8 * seconds)
    return served / (0.2 * seconds)


def _scattered():
    number = 0
    while True:
        number += 1
        yield hashed(b"%d" % number)


def _ascending():
    number = 0
    while True:
        number += 1
        yield b"%012d" % number


def _one():
    while True:
        yield b"hot"


def test_one_partition_key_takes_what_a_partition_takes_until_it_is_split():
    assert _rate(Partitions(), _scattered(), seconds=10) == pytest.approx(
        PARTITION_WRITES_S, rel=0.01
    )


def test_a_hot_partition_is_split_between_scattered_keys_after_some_time():
    split = Partitions(split_after_s=4)
    assert _rate(split, _scattered(), seconds=10) > 1.8 * PARTITION_WRITES_S
    assert len(split.parts) > 4


@pytest.mark.parametrize("keys", [_ascending, _one])
def test_no_split_helps_ascending_keys_or_one_item(keys):
    split = Partitions(split_after_s=2)
    assert _rate(split, keys(), seconds=10) == pytest.approx(PARTITION_WRITES_S, rel=0.01)
    assert len(split.parts) == 4


def test_a_new_table_has_four_partitions_and_a_warm_one_more():
    assert len(Partitions().parts) == 4
    assert len(Partitions(40_000, 12_000).parts) == 40


def _session(engine: Engine) -> list[object]:
    """Do what users do, and return what they are shown."""
    repositories.create(engine, name="lake", storage_namespace="s3://bucket/lake")
    branches.create(engine, "lake", name="dev", source="main")
    for number in range(30):
        path = b"%d" % number
        address = links.get_physical_address(engine, "lake", "dev", path)
        data = links.StoredData(physical_address=address, checksum=f"{number:032x}", size_bytes=1)
        links.link(engine, "lake", "dev", path, data)
    writes.delete(engine, "lake", "dev", b"7")
    commits.commit(engine, "lake", "dev", commits.CommitRequest("first", "u"))
    writes.delete(engine, "lake", "dev", b"8")
    listed = objects.list_objects(engine, "lake", "dev", PageQuery(100)).results
    commits.commit(engine, "lake", "dev", commits.CommitRequest("second", "u"))
    merges.merge(engine, "lake", "dev", "main", merges.MergeRequest("u"))
    log = commits.log(engine, "lake", "main", commits.LogQuery(10)).results
    shown = [(each.path, each.entry.checksum) for each in listed if isinstance(each, ObjectStat)]
    return [*shown, *(commit.message for commit in log)]


def _over_model(new_partitions=Partitions) -> tuple[list[object], ModelOfDynamoDB]:
    time = VirtualTime()
    found: list[object] = []
    with virtual(time, 1):
        model = ModelOfDynamoDB(time, 1, new_partitions)
        engine = World(model).engine(model.tables())
        time.spawn(lambda: found.extend(_session(engine)))
        time.run()
    return found, model


def _plain() -> list[object]:
    time = VirtualTime()
    with virtual(time, 1):
        return _session(World(ModelOfDynamoDB(time, 1)).engine())


def test_the_adapters_give_the_same_results_as_without_the_model():
    found, model = _over_model()
    assert found == _plain()
    assert found[-4:] == ["Merge 'dev' into 'main'", "second", "first", "Repository created"]
    assert model.counts["throttled"] == 0


def test_throttling_changes_no_result(monkeypatch):
    monkeypatch.setattr("bench.scale.partitions.PARTITION_WRITES_S", 30)
    monkeypatch.setattr("bench.scale.partitions.PARTITION_READS_S", 30)
    found, model = _over_model(lambda: Partitions(120, 120))
    assert found == _plain()
    assert model.counts["throttled"] > 0
    assert model.counts["ThrottlingError"] > 0
    assert set(model.partitions) == {REFS, STAGING}


def test_a_cancelled_transaction_holds_nothing(monkeypatch):
    monkeypatch.setattr("bench.scale.dynamodb.LATENCY_SIGMA", 0.0)
    time, ended = VirtualTime(), []
    with virtual(time, 1):
        model = ModelOfDynamoDB(time, 1)
        tables_of(model.service).create()

        def send() -> None:
            model.tables().transact([{"Put": {"TableName": STAGING, "Item": _staged("YQ==")}}])
            ended.append(time.now_s)

        time.spawn(send)
        time.spawn(send, 0.001)
        time.run()
    assert ended[0] == pytest.approx(0.009)
    assert model.counts["TransactionConflict"] == 1
    assert 0.019 <= ended[1] < 0.040


@pytest.mark.parametrize(("is_limited", "rate_max"), [(False, 300), (True, 60)])
def test_writers_of_one_branch_conflict_at_gates_and_share_a_partition(
    is_limited, rate_max, monkeypatch
):
    monkeypatch.setattr("bench.scale.partitions.PARTITION_WRITES_S", 100)
    state = State("", 1.5, 1.0, is_limited=is_limited)
    scenario = Scenario("", "writes", state, (), one_branch, ((0, Spread(shards=1, gates=2)),))
    loads = [played(scenario, 4) for _ in range(2)]
    first, again = (load.timed["writes"] for load in loads)
    assert first.durations_s == again.durations_s
    assert 20 < first.ended / state.measured_s < rate_max
    assert first.quantile_ms(0.5) > 17  # a read, a transaction and a read
    counts = loads[0].world.model.counts
    assert counts["TransactionConflict"] > 0
    assert (counts["ThrottlingError"] > 0) == is_limited


@pytest.mark.long
def test_a_scenario_has_a_table_and_a_plot(tmp_path, capsys):
    chosen = ["--only", "Conditional*", "--tables", "new tables", "--clients-max", "1"]
    main([*chosen, "--results", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {"scale.json", "scale.md", "scale.svg"}
    assert "1: writes, p99" in capsys.readouterr().out


def test_a_scenario_has_one_place_in_the_results():
    places = [(scenario.title, scenario.state.name) for scenario in SCENARIOS]
    assert len(set(places)) == len(places)
