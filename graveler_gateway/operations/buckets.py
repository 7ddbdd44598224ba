"""Repositories as buckets: the API creates and deletes them, S3's clients cannot."""

from graveler.errors import InvalidInputError, NotFoundError
from graveler_gateway.operations.request import S3Request
from graveler_gateway.operations.responses import S3Response, xml_response
from graveler_gateway.protocol.documents import results
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.listings import buckets_query, token_of


def list_buckets(request: S3Request) -> S3Response:
    """List the repositories that the user may list."""
    query = buckets_query(request.parameters)
    # Names are ASCII, and the stores refuse surrogates.
    prefix, after = (
        text.encode("ascii", "replace").decode() for text in (query.prefix, query.after)
    )
    page = request.lake.repositories(prefix, after, query.amount)
    rows = [(found.name, found.creation_date) for found in page.results]
    token = token_of(page.next_after.encode()) if page.has_more else ""
    return xml_response(results.buckets(request.user, rows, query.prefix, token))


def head_bucket(request: S3Request) -> S3Response:
    """Say that the repository exists, in the gateway's region."""
    request.lake.repository(request.bucket)
    return S3Response(200, {"x-amz-bucket-region": request.settings.region})


def get_bucket_location(request: S3Request) -> S3Response:
    request.lake.repository(request.bucket)
    return xml_response(results.location(request.settings.region))


def get_bucket_versioning(request: S3Request) -> S3Response:
    """Say that the bucket has no versions: the history is in refs."""
    request.lake.repository(request.bucket)
    return xml_response(results.versioning())


def create_bucket(request: S3Request) -> S3Response:
    """Refuse: an existing repository as S3 would, and a new one because it needs a namespace."""
    request.lake.check_creation(request.bucket)
    try:
        request.lake.repository(request.bucket)
    except InvalidInputError as error:
        raise S3ResponseError(Code.INVALID_BUCKET_NAME, str(error)) from error
    except NotFoundError:
        raise S3ResponseError(
            Code.NOT_IMPLEMENTED,
            "A repository needs a storage namespace: create it with lakectl, an SDK or the API",
        ) from None
    raise S3ResponseError(Code.BUCKET_ALREADY_EXISTS)


def delete_bucket(request: S3Request) -> S3Response:
    """Refuse: clients delete buckets that they take for empty."""
    request.lake.repository(request.bucket)
    raise S3ResponseError(
        Code.METHOD_NOT_ALLOWED,
        "Repositories are not deleted through the S3 gateway: use lakectl, an SDK or the API",
    )
