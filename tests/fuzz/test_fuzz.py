"""Thousands of wrong requests: none is answered 500, and none that is refused changes anything."""

import pytest

from graveler.errors import NotFoundError
from graveler_functions.api import app
from graveler_functions.http import answers
from tests.fuzz.drafts import draft_of
from tests.fuzz.machine import judged, run
from tests.support.worlds.prepared_lake import prepared
from tests.support.worlds.valid_requests import valid_requests


@pytest.mark.parametrize("seed", range(4))
def test_wrong_requests_are_refused_and_change_nothing(seed):
    tally = run(seed, 600)
    assert tally.failures == [], tally.failures[0]
    # The fuzzer reaches past the first checks, and finds something to refuse.
    assert {200, 201, 204, 400, 404} <= set(tally.statuses)


def test_most_operations_accept_some_requests_of_the_fuzzer():
    accepted = set().union(*(run(seed, 600).accepted for seed in range(10, 14)))
    assert len(accepted) > len(valid_requests()) * 0.8


@pytest.fixture
def tag_route(monkeypatch):
    """Replace the route that reads a tag."""

    def replace(route):
        bound = app._bound

        def of_tags(each, template, services):
            return bound(route if template.name == "getTag" else each, template, services)

        monkeypatch.setattr(app, "_bound", of_tags)

    return replace


def answer_an_error_after_a_change(request):
    request.engine.refs.events.append(None)
    raise NotFoundError("tag not found")


@pytest.mark.parametrize(
    "route",
    [
        lambda _: 1 // 0,
        lambda _: answers.of_json({"id": "v1"}),
        lambda _: answers.empty(203),
        lambda _: answers.of_text("no", status=404),
        answer_an_error_after_a_change,
    ],
)
def test_the_oracle_sees_a_route_that_breaks_a_rule(tag_route, route):
    tag_route(route)
    api = prepared().api.fork()
    with pytest.raises(AssertionError):
        judged(api, draft_of(valid_requests()["getTag"], {"authorization": api.authorization}))
