"""Reviews of pull requests, and comments on them."""

from msgspec import Struct

from graveler.http.schemas.fields import NonEmpty, text_of
from graveler.model.pulls import PullRequestComment, Review, ReviewVerdict
from graveler.times import rfc3339


class ReviewBody(Struct, frozen=True):
    """A verdict on the source's head that the reviewer saw."""

    verdict: ReviewVerdict
    commit_id: NonEmpty


class ReviewRow(Struct, frozen=True, omit_defaults=True):
    """A user's last review; is_current is whether it is about the source's present head."""

    user: str
    verdict: str
    commit_id: str
    creation_date: str
    is_current: bool | None = None


class CommentCreation(Struct, frozen=True):
    text: NonEmpty
    path: NonEmpty | None = None


class CommentRow(Struct, frozen=True, omit_defaults=True):
    id: str
    author: str
    creation_date: str
    text: str
    path: str | None = None


def review_row(review: Review) -> ReviewRow:
    return ReviewRow(review.user, review.verdict, review.commit_id, rfc3339(review.time_ns))


def comment_row(comment: PullRequestComment) -> CommentRow:
    return CommentRow(
        comment.id,
        comment.author,
        rfc3339(comment.creation_time_ns),
        comment.text,
        text_of(comment.path) if comment.path else None,
    )
