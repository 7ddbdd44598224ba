"""`python -m bench` runs every benchmark that needs no server."""

from bench import engine, sstable, startup

for name, run in (("SSTables", sstable.main), ("Engine", engine.main), ("Start-up", startup.main)):
    print(f"\n{name}")
    run()
