"""The sources of the web page, and which of them the committed build was made of.

`make page` writes the digest of the sources beside them. So a change without its build is seen at
once and without node, also one that leaves the build as it was.
"""

from hashlib import sha256

from tests.architecture.test_portability import ROOT

WEBUI = ROOT / "webui"
# What the build is made of, from webui/: folders and files.
SOURCES = (
    *("src", "plugins", "index.html", "package-lock.json", "tsconfig.json", "vite.config.ts"),
    "../graveler_cli/snippets.json",
)
# The digest of the sources that the committed build was made of.
BUILT = WEBUI / "built.sha256"


def digest() -> str:
    """Return the digest of the sources: of their paths and what is in them."""
    listed = sha256()
    for name in SOURCES:
        place = (WEBUI / name).resolve()
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file():
                content = sha256(path.read_bytes()).hexdigest()
                listed.update(f"{content}  {path.relative_to(ROOT).as_posix()}\n".encode())
    return listed.hexdigest()


if __name__ == "__main__":
    BUILT.write_text(f"{digest()}\n")
