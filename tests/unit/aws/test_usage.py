"""What is counted when requests are sent, and for which block."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from graveler.aws import usage
from graveler.aws.dynamodb.client import DynamoDB, DynamoDBCall
from graveler.aws.exchanges.buffered import BufferedResponse, ResponseLostError
from graveler.aws.s3.file_cache import CachedFiles
from graveler.aws.s3.uris import Location
from graveler.aws.signing import Signer
from graveler.aws.usage import Counted
from graveler.ports import ObjectDescription
from graveler.threads import ContextThreads
from tests.support.fakes.memory import MemoryCommittedFiles
from tests.unit.aws.s3.test_objects import COPIED, FOUND
from tests.unit.aws.scripted import FakeTime, Keys, ScriptedHttp, Step
from tests.unit.aws.scripted_s3 import Answer, ScriptedS3, refusal

OK = BufferedResponse(200, {}, b'{"Item":{"a":{"S":"b"}}}')


def dynamodb(*steps: Step) -> DynamoDB:
    return DynamoDB(ScriptedHttp(list(steps)), Signer("eu-west-1", Keys), FakeTime().retries())  # type: ignore[arg-type] # a stand-in


def test_every_request_to_dynamodb_counts_repeated_ones_too() -> None:
    client = dynamodb(ResponseLostError, OK)
    with usage.measured() as used:
        client.call("GetItem", {})
        assert used == {Counted.DYNAMODB_REQUESTS: 2}
        client.call_together(DynamoDBCall("GetItem", {}), DynamoDBCall("Query", {}))
        assert used == {Counted.DYNAMODB_REQUESTS: 4}


def test_every_request_to_s3_counts_repeated_ones_too() -> None:
    aws = ScriptedS3(refusal(503, "SlowDown"), Answer(200, {"Content-Length": "1"}, b"x"))
    with usage.measured() as used:
        aws.s3.call("get_object", Location("bucket", "key"))
    assert used == {Counted.S3_REQUESTS: 2}


def test_copies_and_deletions_that_were_done_count() -> None:
    listed = b"<DeleteResult><Error><Key>c</Key><Code>AccessDenied</Code></Error></DeleteResult>"
    aws = ScriptedS3(FOUND, COPIED, Answer(200, {}, listed), Answer(204))
    with usage.measured() as used:
        aws.objects.copy("s3://bucket/a", "s3://bucket/b", 7, ObjectDescription("a/b", {}))
        assert list(aws.objects.delete_many(["s3://bucket/b", "s3://bucket/c"])) == [
            "s3://bucket/c"
        ]
        aws.objects.delete("s3://bucket/d")
    assert used == {
        Counted.S3_REQUESTS: 4,
        Counted.OBJECTS_COPIED: 1,
        Counted.BYTES_COPIED: 7,
        Counted.OBJECTS_DELETED: 2,
    }


def test_reads_of_files_are_hits_or_misses(tmp_path: Path) -> None:
    source = MemoryCommittedFiles()
    source.files["s3://bucket/n", "f"] = b"0123456789"
    files = CachedFiles(source, tmp_path, 100, reads_before_fetch=1)
    with usage.measured() as used:
        files.read("s3://bucket/n", "f", 0, 1)
        assert used == {Counted.CACHE_MISSES: 1}
        files.read_tail("s3://bucket/n", "f", 2)  # fetches the file whole
        assert used == {Counted.CACHE_MISSES: 2}
        files.read("s3://bucket/n", "f", 0, 1)
        files.read_tail("s3://bucket/n", "f", 2)
        files.read_all("s3://bucket/n", "f")
    assert used == {Counted.CACHE_MISSES: 2, Counted.CACHE_HITS: 3}


def test_counting_outside_of_a_block_does_nothing() -> None:
    usage.count(Counted.S3_REQUESTS)
    with usage.measured() as used:
        pass
    usage.count(Counted.S3_REQUESTS)
    assert used == {}


def test_threads_count_for_the_block_that_submitted_their_work() -> None:
    def work(pool: ContextThreads, number: int) -> usage.Usage:
        with usage.measured() as used:
            asked = [pool.submit(usage.count, Counted.S3_REQUESTS) for _ in range(number)]
            list(pool.map(usage.count, [Counted.CACHE_HITS] * number))
            for each in asked:
                each.result()
        return used

    with ContextThreads(4) as shared, ThreadPoolExecutor(8) as requests:
        measured = list(requests.map(lambda number: work(shared, number), range(1, 40)))
    for number, used in enumerate(measured, 1):
        assert used == {Counted.S3_REQUESTS: number, Counted.CACHE_HITS: number}


def test_no_count_of_threads_of_one_request_is_lost() -> None:
    at_once = Barrier(4)

    def count_many(_: int) -> None:
        at_once.wait()
        for _ in range(10_000):
            usage.count(Counted.S3_REQUESTS)

    with usage.measured() as used, ContextThreads(4) as pool:
        list(pool.map(count_many, range(4)))
    assert used == {Counted.S3_REQUESTS: 40_000}


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    with ContextThreads(1) as pool, pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 // 0).result()
