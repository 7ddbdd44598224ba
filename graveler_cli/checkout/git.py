"""A linked folder inside a git repository: .gitignore, and the git commit in the metadata."""

import re
import shutil
import subprocess
from pathlib import Path

from graveler_cli.checkout.index import INDEX_NAME
from graveler_cli.errors import CommandError

_MARKER = "ignored by lakectl local"  # lakectl's marker, so that both edit the same lines
_BEGIN, _END = f"# {_MARKER}", f"# End {_MARKER}"

_REMOTE = re.compile(r"(?P<server>[\w.:]+)[/:](?P<owner>[\w.-]+)/(?P<project>[\w.-]+)\.git$")
_COMMIT_URLS = {
    "github.com": "https://github.com/{owner}/{project}/commit/{commit}",
    "gitlab.com": "https://gitlab.com/{owner}/{project}/-/commit/{commit}",
    "bitbucket.org": "https://bitbucket.org/{owner}/{project}/commits/{commit}",
}


def repository_of(folder: Path) -> Path | None:
    """Return the root of the git repository that a folder is in; None without one."""
    found = _git(folder, "rev-parse", "--show-toplevel")
    return Path(found) if found else None


def commit_metadata(folder: Path) -> dict[str, str]:
    """Return the metadata that names the git commit a folder is at; empty without git."""
    commit = _git(folder, "rev-parse", "--short", "HEAD")
    if not commit:
        return {}
    metadata = {"git_commit_id": commit}
    remote = _REMOTE.search(_git(folder, "remote", "get-url", "origin"))
    if remote and (url := _COMMIT_URLS.get(remote["server"])):
        name = f"::lakefs::{remote['server']}::url[url:ui]"
        metadata[name] = url.format(**remote.groupdict(), commit=commit)
    return metadata


def ignore(folder: Path, repository: Path) -> Path:
    """Make git ignore a folder's content, but not its index; return the .gitignore.

    Raises:
        CommandError: the file cannot be read or written.
    """
    file = repository / ".gitignore"
    path = folder.relative_to(repository).as_posix()
    try:
        text = file.read_text("utf-8", "surrogateescape") if file.exists() else ""
        changed = _with_section(text, [f"{path}/*", f"!{path}/{INDEX_NAME}"])
        if changed != text:
            _replace(file.resolve(), changed)
    except OSError as error:
        raise CommandError(f"cannot update {file}: {error.strerror}") from error
    return file


def _replace(file: Path, text: str) -> None:
    """Replace a file, whole or not at all."""
    new = file.with_name(f"{file.name}.new")
    try:
        new.write_text(text, "utf-8", "surrogateescape")
        if file.exists():
            new.chmod(file.stat().st_mode)
        new.replace(file)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def _with_section(text: str, entries: list[str]) -> str:
    """Return the text with the entries in lakectl's section, which is added if it is missing."""
    lines = text.split("\n") if text else []
    begin = next((at for at, line in enumerate(lines) if line.startswith(_BEGIN)), len(lines))
    end = begin
    while end < len(lines) and lines[end] and not lines[end].startswith(_END):
        end += 1
    kept = [line for line in lines[begin:end] if line not in entries and line[0] != "#"]
    lines[begin : end + 1] = [_BEGIN, *kept, *entries, _END]
    if lines[-1]:
        lines.append("")
    return "\n".join(lines)


def _git(folder: Path, *args: str) -> str:
    """Return git's output, "" if it fails or is not installed."""
    program = shutil.which("git")
    if program is None:
        return ""
    done = subprocess.run(  # noqa: S603 - fixed arguments
        [program, "-C", str(folder), *args], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""
