"""The offsets of pages of paths."""

from hypothesis import given
from hypothesis import strategies as st

from graveler.http.schemas.fields import cursor_of, path_of_cursor


@given(st.binary(max_size=40))
def test_an_offset_is_a_text_that_means_any_path(path):
    cursor = cursor_of(path)
    assert cursor.isascii()
    assert path_of_cursor(cursor) == path
    assert (cursor == "") is (path == b"")
