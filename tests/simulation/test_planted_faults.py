"""Faults that are planted in transfers, uploads, tags, imports and collections are found soon."""

import pytest
from msgspec.structs import replace

from graveler.aws.dynamodb.tags import _tag_item
from graveler.ports import UNCONDITIONAL
from tests.simulation.machine import run
from tests.simulation.workload import draw

FOUND_WITHIN = 2_000


def _claim_nothing(world) -> None:
    """A copy that shares data does not claim them."""
    world.plant("refs.claim_addresses", lambda *_: None)


def _overlook_uploads(world) -> None:
    """A collection does not read the recorded uploads."""
    world.plant("refs.uploads", lambda *_: iter(()))


def _delete_without_the_lease(world) -> None:
    """Executors do not read the lease."""
    world.plant("jobs.has_lease", lambda *_: True)


def _move_what_was_not_read(world) -> None:
    """A step of a move does not mind what was staged since it looked."""

    def careless(real, repository, branch, changes, old, new):
        token = branch.staging_token
        now = [replace(each, replaces=world.staging.get(token, each.path)) for each in changes]
        return real(repository, branch, now, old, new)

    world.plant("staging.stage_step", careless)


def _complete_without_record(world) -> None:
    """A completion stages its object, and its upload stays open."""

    def careless(_real, _repository, branch, value, _expected, completed):
        world.staging.stage(branch.staging_token, [(completed.path, value)])

    world.plant("staging.stage_upload", careless)


def _complete_whatever_is_there(world) -> None:
    """A completion does not mind what the path has."""

    def careless(real, repository, branch, value, _expected, completed):
        real(repository, branch, value, UNCONDITIONAL, completed)

    world.plant("staging.stage_upload", careless)


def _give_a_tag_the_name_of_a_branch(world) -> None:
    tables = world.refs.tables

    def create(_real, repository, tag, *_):
        tables.dynamodb.call("PutItem", tables.put(_tag_item(repository, tag)))

    world.plant("refs.create_tag", create)


def _delete_whichever_tag(world) -> None:
    """A deletion does not mind that the tag was replaced since it was read."""

    def delete(real, repository, tag, *more):
        now = world.refs.tag(repository, tag.name)
        real(repository, tag if now is None else now, *more)

    world.plant("refs.delete_tag", delete)


def _move_over_edits(world) -> None:
    """An import does not mind what was staged since it looked."""
    world.plant(
        "refs.move_branch", lambda real, *a, **options: real(*a, **{**options, "is_clean": False})
    )


def _stage_tables_one_by_one(world) -> None:
    """A commit to several tables is not one transaction."""

    def apart(real, repository, branch, changes, event):
        for change in changes:
            real(repository, branch, [change], event)
            event = None

    world.plant("staging.stage_if", apart)


@pytest.mark.parametrize(
    ("plant", "mix", "kind"),
    [
        (_claim_nothing, "transfers_expiry", "living"),
        (_overlook_uploads, "uploads_expiry", "collected"),
        (_complete_without_record, "uploads", "upload"),
        (_give_a_tag_the_name_of_a_branch, "tags", "name"),
        (_delete_whichever_tag, "tags", "event"),
        (_move_over_edits, "imports", "linearizable"),
        (_stage_tables_one_by_one, "tables", "table"),
        # Found later.
        *(
            pytest.param(*fault, marks=pytest.mark.long)
            for fault in (
                (_delete_without_the_lease, "collections", "lease"),
                (_move_what_was_not_read, "transfers", "linearizable"),
                (_complete_whatever_is_there, "uploads", "linearizable"),
            )
        ),
    ],
)
def test_a_planted_fault_is_found_soon(plant, mix, kind):
    outcomes = (run(draw(seed, (mix,)), change=plant) for seed in range(FOUND_WITHIN))
    assert any(outcome.problems and outcome.problems[0].kind == kind for outcome in outcomes)
