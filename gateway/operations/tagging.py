"""Tags of objects: GetObjectTagging, PutObjectTagging, DeleteObjectTagging."""

from gateway.operations.answers import Answer, of_document
from gateway.operations.call import Call
from gateway.operations.tags import tags_of, with_tags, without_tags
from gateway.protocol.documents import tags as documents


def get_object_tagging(call: Call) -> Answer:
    return of_document(documents.tagging(tags_of(call.lake.stat(call.place).metadata)))


def put_object_tagging(call: Call) -> Answer:
    call.lake.stat(call.place)
    call.lake.check_write(call.place)
    tags = documents.parse_tagging(call.document())
    call.lake.describe(call.place, lambda metadata: with_tags(metadata, tags))
    return Answer()


def delete_object_tagging(call: Call) -> Answer:
    call.lake.stat(call.place)
    call.lake.describe(call.place, without_tags)
    return Answer(204)
