"""The contract of every RefStore for commits."""

import pytest
from msgspec.structs import replace

from graveler.model import Commit, CommitID, Repository
from tests.contract.conftest import Stores, create, main_of, new_commit

LONG_PREFIXES = [pytest.param(each, marks=pytest.mark.long) for each in ("0", "f")]


class TestCommits:
    def put(self, stores: Stores, repository: Repository, commits: list) -> None:
        for commit in commits:
            old = main_of(stores, repository)
            stores.refs.move_branch(
                repository,
                old,
                commit=commit,
                commit_id=commit.id,
                applied_tokens=(),
                new_staging_token=None,
                event=None,
                drop_after_ns=5,
            )

    def test_those_that_exist_are_found_by_id(self, stores: Stores, repository: Repository) -> None:
        commits = [new_commit(generation) for generation in range(2, 130)]
        stores.refs.restore_commits(repository, commits)
        ids = [commit.id for commit in commits]
        found = stores.refs.commits(repository, [*ids, CommitID("e" * 64), ids[0]])
        assert found == {commit.id: commit for commit in commits}
        for amount in (100, 101):  # one batch, and one commit more
            assert stores.refs.commits(repository, ids[:amount]).keys() == {*ids[:amount]}
        assert stores.refs.commits(repository, [ids[0], ids[0]]).keys() == {ids[0]}
        assert stores.refs.commits(repository, []) == {}

    def test_a_commit_is_created_once(self, stores: Stores, repository: Repository) -> None:
        commit = new_commit(2)
        assert stores.refs.create_commit(repository, commit) == commit
        other = replace(commit, generation=7)
        assert stores.refs.create_commit(repository, other) == commit
        assert stores.refs.create_commit(repository, commit) == commit
        assert stores.refs.commits(repository, [commit.id]) == {commit.id: commit}
        assert stores.refs.commits_below(repository, 2, 1) == (commit,)

    def test_a_prefix_finds_none_one_or_two(self, stores: Stores, repository: Repository) -> None:
        commits = [
            replace(new_commit(2), id=CommitID(start + "0" * 60))
            for start in ("zab1", "zab2", "zab3")
        ]
        self.put(stores, repository, commits)
        assert stores.refs.commit_ids_with_prefix(repository, "zz") == ()
        assert stores.refs.commit_ids_with_prefix(repository, "zab2") == (commits[1].id,)
        assert stores.refs.commit_ids_with_prefix(repository, "za") == tuple(
            commit.id for commit in commits[:2]
        )

    def test_generations_come_highest_first(self, stores: Stores, repository: Repository) -> None:
        commits = [new_commit(generation) for generation in (2, 12, 3, 7, 7)]
        self.put(stores, repository, commits)
        below = stores.refs.commits_below(repository, 11, 3)
        assert [commit.generation for commit in below] == [7, 7, 3]
        everything = stores.refs.commits_below(repository, 100, 100)
        assert [commit.generation for commit in everything] == [12, 7, 7, 3, 2, 1]

    def test_every_commit_comes_once_by_id(self, stores: Stores, repository: Repository) -> None:
        [first] = stores.refs.every_commit(repository)
        assert first.id == main_of(stores, repository).commit_id
        # Some 2 MB, so that there are several pages.
        commits = [
            replace(new_commit(generation), message="m" * 200_000) for generation in range(9)
        ]
        self.put(stores, repository, commits)
        expected = sorted([first, *commits], key=lambda commit: commit.id)
        assert list(stores.refs.every_commit(repository)) == expected
        assert len(list(stores.refs.every_commit(create(stores)))) == 1

    @pytest.mark.parametrize("prefix", ["", "00000000000000", "ffffffffffff", *LONG_PREFIXES])
    def test_all_of_many_commits_come_by_id_wherever_their_ids_are(
        self, stores: Stores, repository: Repository, prefix: str
    ) -> None:
        """IDs are hashes, but users may choose commits by their IDs."""
        made = [new_commit(number) for number in range(1, 2_601)]
        crowded = [
            replace(commit, id=CommitID(prefix + commit.id[len(prefix) :]))
            for commit in made[:-100]
        ]
        commits = [*crowded, *made[-100:]]
        for start in range(0, len(commits), 500):
            stores.refs.restore_commits(repository, commits[start : start + 500])
        head_id = main_of(stores, repository).commit_id
        commits += stores.refs.commits(repository, [head_id]).values()
        expected = sorted(commits, key=lambda commit: commit.id)
        assert list(stores.refs.every_commit(repository)) == expected

    def test_commits_made_while_all_are_read_hide_no_older_one(
        self, stores: Stores, repository: Repository
    ) -> None:
        def large(generation: int) -> Commit:
            return replace(new_commit(generation), message="m" * 200_000)

        before = [large(generation) for generation in range(9)]
        self.put(stores, repository, before)
        scan = stores.refs.every_commit(repository)
        seen = [next(scan)]
        meanwhile = [large(generation) for generation in range(9, 18)]
        self.put(stores, repository, meanwhile)
        seen += scan
        ids = [commit.id for commit in seen]
        assert ids == sorted({*ids})
        assert {commit.id for commit in before} < {*ids}
        for commit in seen:
            assert stores.refs.commits(repository, [commit.id]) == {commit.id: commit}
