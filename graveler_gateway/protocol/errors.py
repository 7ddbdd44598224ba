"""S3's errors: their codes, statuses and messages, and the one exception of the protocol."""

from collections.abc import Mapping
from enum import Enum


class Code(Enum):
    """A code of S3's error table, with its status and its usual message.

    https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
    """

    ACCESS_DENIED = ("AccessDenied", 403, "Access Denied")
    AUTHORIZATION_HEADER_MALFORMED = (
        "AuthorizationHeaderMalformed",
        400,
        "The authorization header you provided is invalid.",
    )
    AUTHORIZATION_QUERY_PARAMETERS_ERROR = (
        "AuthorizationQueryParametersError",
        400,
        "The query parameters of the signature are invalid.",
    )
    BAD_DIGEST = (
        "BadDigest",
        400,
        "The Content-MD5 or checksum value that you specified did not match what we received.",
    )
    BUCKET_ALREADY_EXISTS = (
        "BucketAlreadyExists",
        409,
        "The requested bucket name is not available: a repository has it.",
    )
    CONDITIONAL_REQUEST_CONFLICT = (
        "ConditionalRequestConflict",
        409,
        "A conflicting operation occurred during this request: retry it.",
    )
    ENTITY_TOO_LARGE = (
        "EntityTooLarge",
        400,
        "Your proposed upload exceeds the maximum allowed object size.",
    )
    ENTITY_TOO_SMALL = (
        "EntityTooSmall",
        400,
        "Your proposed upload is smaller than the minimum allowed size.",
    )
    EXPIRED_PRESIGNED_REQUEST = ("AccessDenied", 403, "Request has expired")
    INCOMPLETE_BODY = (
        "IncompleteBody",
        400,
        "You did not provide the number of bytes specified by the Content-Length HTTP header.",
    )
    INTERNAL_ERROR = ("InternalError", 500, "We encountered an internal error. Please try again.")
    INVALID_ACCESS_KEY_ID = (
        "InvalidAccessKeyId",
        403,
        "The AWS Access Key Id you provided does not exist in our records.",
    )
    INVALID_ARGUMENT = ("InvalidArgument", 400, "Invalid Argument")
    INVALID_BUCKET_NAME = ("InvalidBucketName", 400, "The specified bucket is not valid.")
    INVALID_DIGEST = (
        "InvalidDigest",
        400,
        "The Content-MD5 or checksum value that you specified is not valid.",
    )
    INVALID_PART = (
        "InvalidPart",
        400,
        (
            "One or more of the specified parts could not be found. The part may not have been "
            "uploaded, or the specified entity tag may not match the part's entity tag."
        ),
    )
    INVALID_PART_NUMBER = (
        "InvalidPartNumber",
        416,
        "The requested partnumber is not satisfiable",
    )
    INVALID_PART_ORDER = (
        "InvalidPartOrder",
        400,
        (
            "The list of parts was not in ascending order. "
            "The parts list must be specified in order by part number."
        ),
    )
    INVALID_RANGE = ("InvalidRange", 416, "The requested range is not satisfiable")
    INVALID_REQUEST = ("InvalidRequest", 400, "Invalid Request")
    INVALID_STORAGE_CLASS = (
        "InvalidStorageClass",
        400,
        "The storage class you specified is not valid",
    )
    INVALID_TAG = ("InvalidTag", 400, "The tag provided was not a valid tag.")
    INVALID_URI = ("InvalidURI", 400, "Couldn't parse the specified URI.")
    KEY_TOO_LONG = ("KeyTooLongError", 400, "Your key is too long")
    MALFORMED_POST = (
        "MalformedPOSTRequest",
        400,
        "The body of your POST request is not well-formed multipart/form-data.",
    )
    MALFORMED_XML = (
        "MalformedXML",
        400,
        "The XML you provided was not well-formed or did not validate against our published schema",
    )
    METADATA_TOO_LARGE = (
        "MetadataTooLarge",
        400,
        "Your metadata headers exceed the maximum allowed metadata size",
    )
    METHOD_NOT_ALLOWED = (
        "MethodNotAllowed",
        405,
        "The specified method is not allowed against this resource.",
    )
    MISSING_CONTENT_LENGTH = (
        "MissingContentLength",
        411,
        "You must provide the Content-Length HTTP header.",
    )
    NO_SUCH_BUCKET = ("NoSuchBucket", 404, "The specified bucket does not exist")
    # lakeFS's, for a client whose endpoint is the API's URL.
    NO_SUCH_BUCKET_POSSIBLE_API_ENDPOINT = (
        "ErrNoSuchBucketPossibleAPIEndpoint",
        404,
        (
            'Repository "api" not found; this can happen if your endpoint URL mistakenly ends in '
            '"/api/v1".'
        ),
    )
    NO_SUCH_KEY = ("NoSuchKey", 404, "The specified key does not exist.")
    NO_SUCH_UPLOAD = (
        "NoSuchUpload",
        404,
        (
            "The specified upload does not exist. The upload ID may be invalid, or the upload may "
            "have been aborted or completed."
        ),
    )
    NO_SUCH_VERSION = (
        "NoSuchVersion",
        404,
        "The version ID specified in the request does not match an existing version.",
    )
    # S3 answers this code with 404. lakeFS's gateway and s3fs know it for data that are gone.
    OBJECT_GONE = ("NoSuchVersion", 410, "The object has no data any more.")
    NOT_IMPLEMENTED = (
        "NotImplemented",
        501,
        "A header or parameter you provided implies functionality that is not implemented",
    )
    POST_POLICY_FAILED = (
        "AccessDenied",
        403,
        "Invalid according to Policy",
    )
    PRECONDITION_FAILED = (
        "PreconditionFailed",
        412,
        "At least one of the preconditions you specified did not hold",
    )
    REQUEST_TIME_TOO_SKEWED = (
        "RequestTimeTooSkewed",
        403,
        "The difference between the request time and the server's time is too large.",
    )
    REQUEST_TIMEOUT = (
        "RequestTimeout",
        400,
        (
            "Your socket connection to the server was not read from or written to within the "
            "timeout period. Idle connections will be closed."
        ),
    )
    SERVICE_UNAVAILABLE = ("ServiceUnavailable", 503, "Service is unable to handle request.")
    SIGNATURE_DOES_NOT_MATCH = (
        "SignatureDoesNotMatch",
        403,
        (
            "The request signature we calculated does not match the signature you provided. "
            "Check your key and signing method."
        ),
    )
    SLOW_DOWN = ("SlowDown", 503, "Please reduce your request rate.")
    CONTENT_SHA256_MISMATCH = (
        "XAmzContentSHA256Mismatch",
        400,
        "The provided 'x-amz-content-sha256' header does not match what was computed.",
    )

    def __init__(self, text: str, status: int, message: str) -> None:
        self.text = text
        self.status = status
        self.message = message


class S3ResponseError(Exception):
    """A request that S3 would refuse with this code; message says more than the code's own."""

    def __init__(
        self,
        code: Code,
        message: str = "",
        *,
        details: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Details are further elements of the error document, headers those of the answer."""
        super().__init__(message or code.message)
        self.code = code
        self.message = message or code.message
        self.details: Mapping[str, str] = details or {}
        self.headers: Mapping[str, str] = headers or {}
