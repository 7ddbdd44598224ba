"""PostObject: a browser's form with a file, allowed by a signed policy."""

from gateway.operations.answers import Answer
from gateway.operations.call import Call
from gateway.protocol.errors import Code, S3Error


def post_object(call: Call) -> Answer:
    raise S3Error(Code.NOT_IMPLEMENTED, "forms come next")
