"""A profile: `python -m bench.profile lookup|commit|diff|scan [--objects N]`.

It profiles one row of `python -m bench.engine`, on the repository stored there, and prints the
functions with the most time of their own.
"""

import cProfile
import pstats
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from bench.engine.lookups import uniform_keys
from bench.engine.scale import Scale
from bench.repository import FOLDER, NAMESPACE, Repository, make_repository, open_repository
from graveler.committed.apply import apply_changes
from graveler.committed.metarange import MetaRange
from graveler.diff.two_way import diff
from graveler.model import MetaRangeID

_SHOWN = 25
_CHANGES = 1_000


def _lookups(repository: Repository) -> None:
    get = repository.content(repository.committed()).get
    keys = uniform_keys(repository, Random(1), Scale(lookups=20_000))
    _profile(lambda: [get(key) for key in keys])


def _scan(repository: Repository) -> None:
    content = repository.content(repository.committed())
    _profile(lambda: sum(1 for _ in content.records()))


def _commit_or_diff(repository: Repository, *, commit: bool) -> None:
    dataset = repository.dataset
    numbers = dataset.random_numbers(Random(1), min(_CHANGES, dataset.objects))
    changes = list(dataset.changes(numbers, version=1))
    with repository.scratch() as files:
        committed = repository.committed(files)
        base = repository.content(committed)
        made: list[MetaRangeID] = []

        def apply() -> None:
            made.append(apply_changes(committed, base, changes).metarange_id)

        if commit:
            _profile(apply)
            return
        apply()
        changed = MetaRange(committed, NAMESPACE, made[0])
        _profile(lambda: list(diff(base, changed)))


_ROWS: dict[str, Callable[[Repository], None]] = {
    "lookup": _lookups,
    "scan": _scan,
    "commit": lambda repository: _commit_or_diff(repository, commit=True),
    "diff": lambda repository: _commit_or_diff(repository, commit=False),
}


def _profile(work: Callable[[], object]) -> None:
    profile = cProfile.Profile()
    profile.runcall(work)
    pstats.Stats(profile).sort_stats("tottime").print_stats(_SHOWN)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m bench.profile", description=__doc__)
    parser.add_argument("row", choices=_ROWS)
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    repository = open_repository(options.folder, options.objects)
    _ROWS[options.row](repository or make_repository(options.folder, options.objects))


if __name__ == "__main__":
    main()
