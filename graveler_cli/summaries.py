"""The lines of `graveler --help`, which therefore imports no command.

`python -m tests.support.clients.summaries` writes them; a test compares them with the commands'
own help.
"""

# Each is one line, however long.
SUMMARIES = {
    "actions": "Show runs of hooks, and check action files.",
    "annotate": "List objects and folders below a path, each with the commit that changed it last.",
    "auth": "Manage users, groups, policies and credentials.",
    "bisect": "Find the commit that broke something, by bisection.",
    "blame": "List objects and folders below a path, each with the commit that changed it last.",
    "branch": "Create and manage branches within a repository.",
    "branch-protect": "Create and manage branch protection rules.",
    "cat-hook-output": "Show the output of a hook; `actions runs describe` shows it with the run.",
    "cat-sst": "Show the records of a range or metarange file; `sst cat` does the same.",
    "cherry-pick": "Apply the changes of a commit to a branch, as a new commit.",
    "commit": "Commit the changes of a branch.",
    "completion": "Print a script that completes commands, flags and URIs in a shell.",
    "config": "Ask for the key pair and the endpoint, and write them into the configuration file.",
    "diff": "Show the uncommitted changes of a branch, or the differences between two refs.",
    "doctor": "Check the set-up; with --write, run the acceptance suite.",
    "drill": "Restore a dump of a repository into a scratch repository, compare, and delete that.",
    "events": "Follow the events of a repository.",
    "export": "Export a branch to plain objects, once or continuously.",
    "find-merge-base": "Show the merge base of two refs: a best common ancestor.",
    "fs": "View and manipulate objects.",
    "gateway": "Serve S3's API on this machine: repositories are buckets, and keys are REF/PATH.",
    "gc": "Manage the garbage collection policy.",
    "identity": "Show the user of the configured credentials.",
    "import": "Import objects into a branch, by a commit; no bytes are copied.",
    "local": "Sync local directories with lakeFS paths.",
    "log": "Show the commits that lead to a ref, newest first.",
    "merge": "Merge a ref into a branch, as a new commit of the branch.",
    "plugin": "Show plugins: executables graveler-NAME or lakectl-NAME in PATH.",
    "pr": "Create, review, merge and close pull requests.",
    "refs-dump": "Dump the refs of a repository into its namespace; print the manifest.",
    "refs-restore": "Restore the refs of a dump in the storage namespace of a bare repository.",
    "repo": "Manage and explore repositories.",
    "serve": "Run the whole system on this machine: API, web page, S3 gateway and stores.",
    "show": "Show a commit in detail.",
    "sst": "Inspect range and metarange files, without a server.",
    "tables": "Show the Iceberg tables of a ref, and how they differ.",
    "tag": "Create and manage tags within a repository.",
    "tasks": "Show, cancel and wait for tasks: large commits, merges, dumps.",
    "usage": "Usage reports of the server.",
}
