"""The stores start faster from archives of their classes, and start as well without them."""

import fcntl
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from graveler_embedded import archives
from graveler_embedded.jars import paths
from graveler_embedded.stores import start_dynamodb, start_s3proxy
from graveler_embedded.tcp_ports import free_port
from tests.support.servers.stack import KEYS

pytestmark = pytest.mark.server


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of the stores' files that has no archive."""
    folder = tmp_path / "cache"
    for store in ("dynamodb", "s3proxy"):
        (folder / store).mkdir(parents=True)
        for jar in paths(store):
            (folder / store / jar.name).symlink_to(jar)
    monkeypatch.setenv("GRAVELER_JARS", str(folder))
    return folder


@contextmanager
def stores(folder):
    """Both stores, when they answer."""
    servers = [
        start_dynamodb(free_port(), folder / "tables", folder / "logs" / "dynamodb.log"),
        start_s3proxy(free_port(), folder / "objects", KEYS, folder / "logs" / "s3proxy.log"),
    ]
    try:
        for server in servers:
            server.wait_until_ready()
        yield servers
    finally:
        for server in servers:
            server.child.kill()


def mapped(server):
    """The archives that the server's Java uses."""
    words = Path(f"/proc/{server.child.pid}/maps").read_text().split()
    return {word for word in words if word.endswith(".jsa")}


def test_the_second_start_uses_archives_that_were_made_while_the_first_one_ran(tmp_path, cache):
    with stores(tmp_path):
        archives.create(tmp_path / "logs")
    made = [str(path) for path in sorted(cache.glob("*/*.jsa"))]
    assert len(made) == 2
    assert archives.missing() == []
    with stores(tmp_path) as (dynamodb, s3):
        assert [*mapped(dynamodb), *mapped(s3)] == made
    for damaged in map(Path, made):
        damaged.chmod(0o600)
        os.truncate(damaged, 1_000_000)
    with stores(tmp_path) as both:
        assert not any(map(mapped, both))


def test_other_files_of_a_store_get_another_archive_in_place_of_the_old_one(tmp_path, cache):
    (cache / "s3proxy" / "old.jsa").touch()
    with stores(tmp_path):
        archives.create(tmp_path / "logs")
        [first] = (cache / "s3proxy").glob("*.jsa")
        [jar] = paths("s3proxy")
        content = jar.read_bytes()
        jar.unlink()
        jar.write_bytes(content)  # as another fetch
        assert archives.missing() == ["s3proxy"]
    assert first.name != "old.jsa"


def test_an_archive_that_cannot_be_written_is_left_out(tmp_path, cache):
    (archives._archive("dynamodb").with_suffix(".partial") / "full").mkdir(parents=True)
    with stores(tmp_path):
        with pytest.raises(subprocess.CalledProcessError):
            archives.create(tmp_path / "logs")
        assert not [*cache.glob("*/*.jsa")]
    with stores(tmp_path):
        pass


def test_no_archive_is_tried_in_a_cache_that_is_only_read(cache, monkeypatch):
    assert archives.missing() == ["dynamodb", "s3proxy"]
    monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.W_OK)
    assert archives.missing() == []


def test_one_process_at_a_time_makes_the_archives(tmp_path, cache):
    holder = os.open(cache, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    try:
        archives.create(tmp_path / "lists that are not there")
    finally:
        os.close(holder)
    assert not [*cache.glob("*/*.jsa")]
