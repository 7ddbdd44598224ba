"""The program as a process; also `python -m graveler_cli`."""

import sys


def main() -> None:
    """Run the program with the arguments of this process; Ctrl-C ends it with 130."""
    try:
        # Inside the try, so that Ctrl-C during the import ends quietly.
        from graveler_cli.main import app  # noqa: PLC0415

        app()
    except KeyboardInterrupt:
        sys.exit(130)


def export() -> None:
    """Run `graveler export` with the arguments of this process, as lakectl's plugin."""
    sys.argv = ["graveler", "export", *sys.argv[1:]]
    main()


if __name__ == "__main__":
    main()
