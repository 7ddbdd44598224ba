"""What `graveler --help` says of each command, so that it need not import all of them.

`python -m tests.support.summaries` writes it; a test compares it with the commands' own help.
"""

SUMMARIES = {
    "branch": "Create and manage branches within a repository.",
    "doctor": "Check the endpoint and the key pair; with --write, all that users do.",
    "drill": "Restore a dump of a repository into a scratch repository, compare, and delete that.",
    "export": "Export a branch to plain objects, once or continuously.",
    "fs": "View objects.",
    "gateway": "Serve S3's API on this machine: repositories are buckets, and keys are REF/PATH.",
    "gc": "Manage the garbage collection policy.",
    "tasks": "Show, cancel and wait for tasks: large commits, merges, dumps.",
}
