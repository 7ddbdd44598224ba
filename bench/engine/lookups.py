"""Point lookups: a key in, its stored value out, through metarange, range and block.

There are three distributions. `hot` repeats a few objects, all in RAM. `zipf` chooses from all
objects, rank n with a probability proportional to 1/n, ranks scattered over the keyspace. `uniform`
chooses all objects equally often. The caches have a function's sizes, with three exceptions: in
`hot` they hold everything; in `decoded` each lookup reads its block from the local file and decodes
it; in `files` it also opens the range's local file.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import exp, log
from random import Random

from msgspec import structs

from bench.engine.scale import Scale
from bench.figures import Figure, cores, on_all_cores, peak_memory_mb, spent
from bench.files import Traffic
from bench.repository import Repository
from graveler.committed.store import CacheSizes

Get = Callable[[bytes], bytes | None]

_DEFAULT = CacheSizes()
_AMPLE = CacheSizes(
    range_bytes=1 << 30,
    index_bytes=3 << 30,
    block_bytes=1 << 30,
    content_bytes=0,
    metarange_bytes=1 << 28,
)
# Room for the metarange's blocks, which every lookup needs, and for hardly any others.
_NO_BLOCKS = structs.replace(_AMPLE, block_bytes=4 << 20)
_NOTHING = structs.replace(_NO_BLOCKS, range_bytes=0)
# A prime greater than any repository: maps ranks to distinct, scattered numbers.
_PRIME = 2_147_483_647
# Slow lookups are measured less often: one in so many.
_FEWER = (4, 20)
# The fastest round counts.
_ROUNDS = 3


def hot_keys(repository: Repository, random: Random, scale: Scale) -> list[bytes]:
    dataset = repository.dataset
    hot = [dataset.key(random.randrange(dataset.objects)) for _ in range(scale.hot_objects)]
    return random.choices(hot, k=scale.lookups)


def zipf_keys(repository: Repository, random: Random, scale: Scale) -> list[bytes]:
    dataset = repository.dataset
    whole = log(dataset.objects + 1)
    ranks = (int(exp(random.random() * whole)) for _ in range(scale.lookups))
    return [dataset.key(rank * _PRIME % dataset.objects) for rank in ranks]


def uniform_keys(repository: Repository, random: Random, scale: Scale) -> list[bytes]:
    dataset = repository.dataset
    return [dataset.key(random.randrange(dataset.objects)) for _ in range(scale.lookups)]


Keys = Callable[[Repository, Random, Scale], list[bytes]]


def _get_each(get: Get, keys: list[bytes]) -> None:
    for key in keys:
        get(key)


def _prepare(
    repository: Repository, sizes: CacheSizes, keys: Keys, scale: Scale
) -> list[Callable[[], None]]:
    """Return rounds of lookups to be measured, with fully warm caches."""
    get = repository.content(repository.committed(caches=sizes)).get
    before = keys(repository, Random(1), replace(scale, lookups=scale.warming_lookups))
    assert get(before[0]) is not None
    _get_each(get, before)
    if keys is hot_keys:
        return [partial(_get_each, get, before[: scale.lookups])] * _ROUNDS
    return [
        partial(_get_each, get, keys(repository, Random(number), scale))
        for number in range(2, 2 + _ROUNDS)
    ]


def measure_warm_lookups(
    repository: Repository, scale: Scale, name: str, sizes: CacheSizes, keys: Keys
) -> Iterator[Figure]:
    """Measure lookups per second of one kind, in one process and with one on each core."""
    prepare = partial(_prepare, repository, sizes, keys, scale)
    seconds = on_all_cores(prepare, _ROUNDS)
    cpu_s: list[float] = []
    for work in prepare():
        with spent() as times:
            work()
        cpu_s.append(times.cpu_s)
    yield Figure(name, scale.lookups / min(cpu_s), "lookups/s cpu")
    yield Figure(f"{name}, all cores", scale.lookups * cores() / seconds, "lookups/s wall")
    yield Figure(f"{name}, peak memory of a process", peak_memory_mb(), "MB")


def warm_kinds(scale: Scale) -> list[tuple[str, CacheSizes, Keys, Scale]]:
    """The arguments of measure_warm_lookups: name, caches, keys, scale."""
    some, few = (replace(scale, lookups=scale.lookups // part) for part in _FEWER)
    return [
        ("hot, all in RAM", _AMPLE, hot_keys, scale),
        ("zipf", _DEFAULT, zipf_keys, some),
        ("uniform", _DEFAULT, uniform_keys, some),
        ("uniform, each decodes its block", _NO_BLOCKS, uniform_keys, few),
        ("uniform, each opens its file", _NOTHING, uniform_keys, few),
    ]


def measure_cold_lookups(repository: Repository, scale: Scale) -> Iterator[Figure]:
    """Measure lookups from a slow store, with empty caches and with a warm metarange."""
    dataset = repository.dataset
    random = Random(3)
    keys = [dataset.key(random.randrange(dataset.objects)) for _ in range(scale.cold_lookups)]
    with repository.scratch(scale.latency_s) as files, spent() as times:
        for key in keys:
            assert repository.content(repository.committed(files)).get(key) is not None
    latency = f"store of {scale.latency_s * 1e3:.0f} ms"
    yield from _cost(f"cold, {latency}", times.wall_s, files.traffic, len(keys))
    with repository.scratch(scale.latency_s) as files:
        get = repository.content(repository.committed(files)).get
        get(dataset.key(0))
        before = Traffic(**vars(files.traffic))
        with spent() as times:
            _get_each(get, keys)
    files.traffic.reads -= before.reads
    files.traffic.bytes_read -= before.bytes_read
    yield from _cost(f"next ones, {latency}", times.wall_s, files.traffic, len(keys))


def _cost(name: str, wall_s: float, traffic: Traffic, lookups: int) -> Iterator[Figure]:
    yield Figure(name, lookups / wall_s, "lookups/s wall")
    yield Figure(f"{name}, requests", traffic.reads / lookups, "per lookup")
    yield Figure(f"{name}, read", traffic.bytes_read / lookups / 1e3, "KB per lookup")
