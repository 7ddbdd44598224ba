"""Patterns select the same events as EventBridge."""

from graveler_embedded.event_patterns import matches
from tests.support.checks.cases import for_each

EVENT = {"source": "graveler", "detail-type": "Commit Created", "detail": {"branch": "main"}}


@for_each(
    ("pattern", "expected"),
    [
        ({}, True),
        ({"source": ["graveler"]}, True),
        ({"source": ["other", "graveler"]}, True),
        ({"source": ["other"]}, False),
        ({"source": []}, False),
        ({"source": ["grave"]}, False),
        ({"source": [{"prefix": "grave"}]}, True),
        ({"source": [{"prefix": "raveler"}]}, False),
        ({"source": ["graveler"], "detail-type": ["Tag Created"]}, False),
        ({"source": ["graveler"], "detail-type": ["Tag Created", "Commit Created"]}, True),
        ({"detail": {"branch": ["main"]}}, True),
        ({"detail": {"branch": ["dev"]}}, False),
        ({"detail": {"tag": ["main"]}}, False),
        ({"detail": {"branch": {"name": ["main"]}}}, False),
        ({"absent": ["graveler"]}, False),
        ({"absent": [{"prefix": ""}]}, False),
    ],
)
def test_an_event_matches_when_every_named_field_has_a_listed_value(pattern, expected):
    assert matches(pattern, EVENT) is expected
