"""`python -m bench` runs every benchmark that needs no server."""

from bench import access, sstable, startup
from bench.engine.run import main as engine
from bench.reuse.run import main as reuse

# The benchmarks do not get this command's arguments.
for name, run in (
    ("SSTables", sstable.main),
    ("Engine", lambda: engine([])),
    ("Reuse", lambda: reuse([])),
    ("Access control", access.main),
    ("Start-up", startup.main),
):
    print(f"\n{name}")
    run()
