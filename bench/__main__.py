"""`python -m bench` runs every benchmark that needs no server."""

from bench import sstable, startup
from bench.engine.run import main as engine
from bench.reuse.run import main as reuse

# No arguments: those of this command are not theirs.
for name, run in (
    ("SSTables", sstable.main),
    ("Engine", lambda: engine([])),
    ("Reuse", lambda: reuse([])),
    ("Start-up", startup.main),
):
    print(f"\n{name}")
    run()
