"""The repository is the same on any machine: no file names the one it was written on."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Absolute paths of a checkout, a home or a virtual environment; `${HOME}/work/` is not one.
ABSOLUTE_PATH = re.compile(r"(?<![\w.~})/-])/(?:work|root|home/\w+|Users/\w+)/[\w.]")

# Packages come from the public registries: a mirror's address in a lock file would break every
# other machine.
REGISTRIES = {
    "pypi.org",
    "files.pythonhosted.org",
    "registry.npmjs.org",
    "repo1.maven.org",
    "repo.maven.apache.org",
    "deb.debian.org",
}
REGISTRY_SETTING = re.compile(
    r"(?:index[-_]url|find[-_]links|registry|resolved|distributionUrl|url)"
    r"""["'\s]*[=:\s][\s"']*https?://(?:[^\s"'/@]*@)?([^\s"'/:]+)""",
    re.IGNORECASE,
)
MANIFEST = re.compile(
    r"(^|/)(requirements[^/]*\.txt|[^/]*\.lock|pyproject\.toml|package(-lock)?\.json|\.npmrc"
    r"|pip\.conf|uv\.toml|pom\.xml|settings\.xml|[^/]*\.(sh|mk)|Makefile|run)$"
)
# npm's lock files say who takes donations; nothing is fetched from there.
FUNDING = re.compile(r'"funding": (\{[^}]*\}|\[[^\]]*\]|"[^"]*")')
PRIVATE_HOST = re.compile(
    r"https?://(?:[^\s\"'/@]*@)?"
    r"(?:10\.\d+\.\d+\.\d+|192\.168\.\d+\.\d+|172\.(?:1[6-9]|2\d|3[01])\.\d+\.\d+"
    r"|[\w.-]+\.(?:internal|intranet|corp|lan))\b"
)


def tracked_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]


def machine_traces(name: str, text: str) -> list[str]:
    """Return what a file reveals of the machine it was written on."""
    found = [match[0] for match in ABSOLUTE_PATH.finditer(text)]
    found += [match[0] for match in PRIVATE_HOST.finditer(text)]
    if MANIFEST.search(name):
        found += [
            host
            for host in REGISTRY_SETTING.findall(FUNDING.sub("", text))
            if host not in REGISTRIES
        ]
    return found


def test_no_tracked_file_reveals_the_machine_it_was_written_on():
    found = {}
    for name in tracked_files():
        if name == str(Path(__file__).relative_to(ROOT)):
            continue  # the examples below
        try:
            text = (ROOT / name).read_text()
        except UnicodeDecodeError:
            continue  # a stored range file
        if lines := machine_traces(name, text):
            found[name] = lines[:3]
    assert found == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "see /work/checkout/x"),
        ("a.py", 'open("/root/.cache/y")'),
        ("a.py", "#!/home/me/venv/bin/python"),
        ("a.md", "http://10.1.2.3/simple"),
        ("a.md", "https://user:secret@mirror.corp/simple"),
        ("requirements.txt", "--index-url https://mirror.example/simple"),
        ("uv.lock", 'registry = "https://mirror.example/simple"'),
        ("package-lock.json", '"resolved": "https://mirror.example/a.tgz"'),
    ],
)
def test_a_trace_is_found(name, text):
    assert machine_traces(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "https://example.com/work/x, ~/work/x, ${HOME}/work/x, framework/root/x"),
        ("a.py", "http://127.0.0.1:8000/"),
        ("uv.lock", 'registry = "https://pypi.org/simple"'),
        ("package-lock.json", '"resolved": "https://registry.npmjs.org/a.tgz"'),
    ],
)
def test_a_text_without_traces_passes(name, text):
    assert machine_traces(name, text) == []
