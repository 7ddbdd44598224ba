"""The limits of the system, each with its reason."""

# lakeFS's limit, and that of a DynamoDB sort key, which holds the path.
PATH_BYTES_MAX = 1024

# S3's limit.
OBJECT_KEY_BYTES_MAX = 1024

# lakeFS pages everything by 1,000 and reports this number as max_per_page.
PAGE_AMOUNT_DEFAULT = 100
PAGE_AMOUNT_MAX = 1000

DELETE_OBJECTS_MAX = 1000
# Of one request, and the bytes of its body. The answer can be three times as long, and has 6 MB at
# most.
LINKS_MAX = 1000
LINKS_BODY_BYTES_MAX = 1536 * 1024
# Of one merge; each is checked by itself.
RESOLUTIONS_MAX = 1000

# A DynamoDB item has at most 400 KB, its other attributes included.
USER_METADATA_BYTES_MAX = 128 * 1024
COMMIT_BYTES_MAX = 300 * 1024
# Title and description together. A page of pull requests is read whole, and GitHub has this limit.
PULL_REQUEST_BYTES_MAX = 64 * 1024
# Of the record as JSON, with reviewers and reviews. Its merge adds some 200 bytes.
PULL_REQUEST_RECORD_BYTES_MAX = 395 * 1024
REVIEWERS_MAX = 100
# Each approval is in the item of the pull request.
REQUIRED_APPROVALS_MAX = 100
# Of a text as UTF-8. As JSON it may be six times as large, which an item still holds.
COMMENT_BYTES_MAX = 64 * 1024
# The sum of all keys and values of one repository, which have an item of their own.
REPOSITORY_METADATA_BYTES_MAX = 300 * 1024
# DynamoDB's limit on the names of attributes: keys are stored as such.
METADATA_KEY_BYTES_MAX = 65_535

# Each prefix of an import may have a page of its listing in memory, about 1 MB.
IMPORT_PREFIXES_MAX = 100
# A task's item holds the sorted runs of each inventory, about a hundred.
IMPORT_INVENTORIES_MAX = 10
# A task's item in DynamoDB holds the request, and has at most 400 KB.
IMPORT_REQUEST_BYTES_MAX = 300 * 1024

# For commits that clients create as records; lakeFS itself makes at most two parents.
COMMIT_PARENTS_MAX = 16
# lakeFS stores an int32, and each later commit needs a greater number.
GENERATION_MAX = 2**30

# A name of a user, a group or a policy. It is part of sort keys, which have at most 1,024 bytes.
ACCOUNT_NAME_BYTES_MAX = 256
# A year, and a month more, so that a yearly review has all of it.
AUDIT_LIFE_S = 396 * 24 * 60 * 60
# References are in the item of the user or group, which every look-up of policies reads.
GROUPS_OF_USER_MAX = 100
POLICIES_ATTACHED_MAX = 100
# A page of a policy's attachments reads so many users and groups; each has them in its item.
HOLDERS_READ_MAX = 1000
# Of one policy's statements as JSON. AWS allows 6 KB.
POLICY_BYTES_MAX = 64 * 1024
GROUP_DESCRIPTION_BYTES_MAX = 1024
# An ARN of IAM has at most some 600 bytes. It is part of sort keys.
PRINCIPAL_ID_BYTES_MAX = 900

# How far a merge looks into crossed merges; beyond, the paths that changed there conflict. Each
# crossing in a row is a level, which is a step of recursion. Two branches into which n others were
# merged have n (n - 1) / 2 pairs of best common ancestors. Each pair is a walk.
CROSSED_LEVELS_MAX = 100
CROSSED_PAIRS_MAX = 1000

# They are in the repository's item of 400 KB, and each write checks all of them.
PROTECTION_RULES_MAX = 300

# A staged write retries if a commit seals its token. lakeFS gives up after three tries. With
# constant commits, ten cost little and refuse fewer writes.
BRANCH_WRITE_TRIES_MAX = 10
# Moving a branch head retries if another commit or merge was faster. lakeFS gives up after ten.
BRANCH_UPDATE_TRIES_MAX = 10

# Entries that a hard reset replaces in its transaction, which has at most 100 actions.
RESTORED_MAX = 90
RESTORED_BYTES_MAX = 3 * 1024**2  # of 4 MB

# Sealed tokens of a branch. Readers look into each, and the branch's item of 400 KB names them.
# Only what earlier versions left, or a writer that ends another's seal, makes more.
SEALED_TOKENS_MAX = 8
# Of them, one compaction merges so many: each is read beside the others, a page of it in memory.
SEALED_REPLACED_MAX = 64

# A request that read a branch before a commit may still read the tokens that the commit removes.
# Dropping such a token would hide an acknowledged write. A request may be frozen for an hour. The
# clocks of committer and cleanup may differ by an hour. Four hours cover both. The cost is the
# storage of committed staged changes for these hours.
TOKEN_RETENTION_S = 4 * 60 * 60

# An issued physical address can be linked for this long.
PHYSICAL_ADDRESS_LIFE_S = 24 * 60 * 60
PRESIGNED_URL_LIFE_S = 15 * 60

# A claim must outlive each look of a collection that begins before the claim. A run may take twelve
# hours, and clocks may differ by an hour.
CLAIM_LIFE_S = 2 * 24 * 60 * 60

# A reader of all changes from now on also reads the events of these hours before. Events' IDs begin
# with their writers' times. One hour is for each fault: the writer's clock is slow; the reader's
# clock is fast; the request is frozen between its event and its change.
EVENTS_MARGIN_S = 3 * 60 * 60

# Of an upload whose content is stored while it is checked. A refused one leaves this to a
# collection.
BESIDE_CHECKS_BYTES_MAX = 1024**2

# A write must end before its data look old. A collection deletes data that are a day old and that
# no entry names. S3 may date data by the start of their write.
WRITE_LIFE_S = 12 * 60 * 60

# S3 copies up to 5 GiB in one request, but the time is unbounded. Larger objects than this are
# copied in parts of this size, several at a time, while the caller waits.
SINGLE_COPY_BYTES_MAX = 512 * 1024**2
# S3's limit on one upload.
UPLOAD_PARTS_MAX = 10_000

# Records of multipart uploads expire. An upload that is open for longer has been forgotten. A
# completed one answers the client that lost its answer and completes again.
OPEN_UPLOAD_LIFE_S = 7 * 24 * 60 * 60
COMPLETED_UPLOAD_LIFE_S = 24 * 60 * 60

# Each guarded operation reads all of them, with one request each. lakeFS has no limit.
ACTION_FILES_MAX = 200
# Enough for an embedded Lua script; takes about 50 ms to parse.
ACTION_FILE_BYTES_MAX = 256 * 1024

# Hooks of all actions that run at one event. A task's item holds their results, beside a commit's
# message and metadata, and has at most 400 KB.
HOOKS_MAX = 64
HOOK_ERROR_BYTES_MAX = 300
# Actions of one event whose hooks run at the same time.
HOOK_ACTIONS_AT_ONCE = 8
# The function that runs tasks has 15 minutes. A hook never starts that would not fit into the rest.
HOOK_TIMEOUT_S_MAX = 600
# All hooks of one task, such as a commit, as long as they hold a place of `hooks_at_once`.
TASK_HOOKS_S_MAX = 1800
# What is read of a target's answer. The rest would only fill the log.
HOOK_ANSWER_BYTES_MAX = 64 * 1024
# A hook's log: the request with a commit's message and metadata, and the answers.
HOOK_OUTPUT_BYTES_MAX = 1024 * 1024
# Each parenthesis costs a level of the parser's recursion.
HOOK_CONDITION_LENGTH_MAX = 200
# Headers, query parameters and entries of dag_conf of one hook.
HOOK_PROPERTIES_MAX = 100
# Records of runs expire after this time; their files in the object store stay.
HOOK_RUN_LIFE_S = 90 * 24 * 60 * 60

# API Gateway waits for an answer for 29 s (REST API) or 30 s (HTTP API). That includes a cold start
# of one to two seconds. A request works for this long at most; the rest is for answers on their
# way.
REQUEST_S_MAX = 26.0

# Lambda accepts and returns 6 MB of JSON, in which base64 makes binary data a third larger.
LAMBDA_PAYLOAD_BYTES_MAX = 6 * 1024 * 1024
API_GATEWAY_BODY_BYTES_MAX = 10 * 1024 * 1024

# Where ranges end (docs/adr/0004). Settings of a deployment; a change affects later IDs only.
RANGE_RAGGEDNESS_RECORDS = 8_192
RANGE_BYTES_MAX = 20 * 1024 * 1024

# The bounds of integers in requests and records.
INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1

# Policies of access control. A policy is in one item of 400 KB. A check compares a request with
# each statement of its user. lakeFS has no limits.
POLICY_STATEMENTS_MAX = 100
STATEMENT_ACTIONS_MAX = 100
STATEMENT_RESOURCES_MAX = 100
CONDITION_VALUES_MAX = 100
# A path, a namespace or an action, and what is around it in an ARN.
ARN_BYTES_MAX = 2048
