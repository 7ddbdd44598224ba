"""Repositories as buckets: they are made and deleted by the API, not by S3's clients."""

from gateway.operations.request import Call
from gateway.operations.responses import Answer, of_document
from gateway.protocol.documents import results
from gateway.protocol.errors import Code, S3Error
from gateway.protocol.listings import buckets_query, token_of
from graveler.errors import InvalidInputError, NotFoundError


def list_buckets(call: Call) -> Answer:
    """List the repositories that the user may list."""
    query = buckets_query(call.parameters)
    # Names are ASCII, and the stores take no halves of characters.
    prefix, after = (
        text.encode("ascii", "replace").decode() for text in (query.prefix, query.after)
    )
    page = call.lake.repositories(prefix, after, query.amount)
    rows = [(found.name, found.creation_date) for found in page.results]
    token = token_of(page.next_after.encode()) if page.has_more else ""
    return of_document(results.buckets(call.user, rows, query.prefix, token))


def head_bucket(call: Call) -> Answer:
    """Say that the repository exists, in the gateway's region."""
    call.lake.repository(call.bucket)
    return Answer(200, {"x-amz-bucket-region": call.settings.region})


def get_bucket_location(call: Call) -> Answer:
    call.lake.repository(call.bucket)
    return of_document(results.location(call.settings.region))


def get_bucket_versioning(call: Call) -> Answer:
    """Say that the bucket has no versions: the history is in refs."""
    call.lake.repository(call.bucket)
    return of_document(results.versioning())


def create_bucket(call: Call) -> Answer:
    """Refuse: an existing repository as S3 would, and a new one because it needs a namespace."""
    call.lake.check_creation(call.bucket)
    try:
        call.lake.repository(call.bucket)
    except InvalidInputError as error:
        raise S3Error(Code.INVALID_BUCKET_NAME, str(error)) from error
    except NotFoundError:
        raise S3Error(
            Code.NOT_IMPLEMENTED,
            "A repository needs a storage namespace: create it with lakectl, an SDK or the API",
        ) from None
    raise S3Error(Code.BUCKET_ALREADY_EXISTS)


def delete_bucket(call: Call) -> Answer:
    """Refuse: clients delete buckets that they take for empty."""
    call.lake.repository(call.bucket)
    raise S3Error(
        Code.METHOD_NOT_ALLOWED,
        "Repositories are not deleted through the S3 gateway: use lakectl, an SDK or the API",
    )
