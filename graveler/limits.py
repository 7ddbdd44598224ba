"""Limits of the system, each with its reason."""

# lakeFS's limit, and that of a DynamoDB sort key, which holds the path.
PATH_BYTES_MAX = 1024

# S3's limit.
OBJECT_KEY_BYTES_MAX = 1024

# lakeFS pages everything by 1,000 and reports this number as max_per_page.
PAGE_AMOUNT_DEFAULT = 100
PAGE_AMOUNT_MAX = 1000

DELETE_OBJECTS_MAX = 1000

# A DynamoDB item holds 400 KB; the rest of the item needs room beside these.
USER_METADATA_BYTES_MAX = 128 * 1024
COMMIT_BYTES_MAX = 300 * 1024
# Of one repository, all keys and values together; they are in an item of their own.
REPOSITORY_METADATA_BYTES_MAX = 300 * 1024
# DynamoDB's limit on names of attributes, which keys become.
METADATA_KEY_BYTES_MAX = 65_535

# Of commits that clients describe: lakeFS makes none with more than two.
COMMIT_PARENTS_MAX = 16
# lakeFS stores an int32; every later commit needs a greater one.
GENERATION_MAX = 2**30

# They are in the repository's item, of 400 KB, and every write goes through all of them.
PROTECTION_RULES_MAX = 300

# A staged write retries when a commit seals its token underneath it. lakeFS gives up after three;
# where somebody commits all the time, ten cost little and refuse less.
BRANCH_WRITE_TRIES_MAX = 10
# Moving a branch head retries when another commit or merge came first. lakeFS gives up after ten.
BRANCH_UPDATE_TRIES_MAX = 10

# A hard reset replaces so many restored entries in its transaction, which has at most 100 parts.
RESTORED_MAX = 90
RESTORED_BYTES_MAX = 3 * 1024**2  # of 4 MB

# A request that read a branch before a commit may still read the tokens that the commit takes off.
# A dropped token that is still read would hide an acknowledged write. A request may be frozen for
# an hour, and the clocks of committer and cleanup may differ by an hour; four hours cover both. The
# price is the storage of committed staged changes for these hours.
TOKEN_RETENTION_S = 4 * 60 * 60

# A physical address that was handed out can be linked for this long.
PHYSICAL_ADDRESS_LIFE_S = 24 * 60 * 60
PRESIGNED_URL_LIFE_S = 15 * 60

# S3 copies 5 GiB with one request, but nobody knows how long that takes. What is larger than this
# is copied in parts of this size, several at a time, each done while whoever asked still waits.
SINGLE_COPY_BYTES_MAX = 512 * 1024**2
# S3's limit on one upload.
UPLOAD_PARTS_MAX = 10_000

# Every guarded operation reads them, one request each; lakeFS has no limit.
ACTION_FILES_MAX = 200
# Room for a Lua script inside; parsed in about 50 ms.
ACTION_FILE_BYTES_MAX = 256 * 1024

# Lambda takes and returns 6 MB of JSON; base64 makes binary a third larger.
LAMBDA_PAYLOAD_BYTES_MAX = 6 * 1024 * 1024
GATEWAY_BODY_BYTES_MAX = 10 * 1024 * 1024

# Range breaking (docs/adr/0004). Settings of a deployment; changing them changes later IDs only.
RANGE_RAGGEDNESS_RECORDS = 8_192
RANGE_BYTES_MAX = 20 * 1024 * 1024

# Bounds of the integers that clients send and records hold.
INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
