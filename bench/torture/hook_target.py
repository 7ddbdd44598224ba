"""The server that hooks call: it can refuse, or hold an answer until `release`."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

from graveler_embedded.tcp_ports import HOST

_HELD_S_MAX = 50.0


class HookTarget:
    """Answers 500 to `/refuse`, else 200; answers for held branches wait."""

    def __init__(self) -> None:
        self._held: dict[str, Event] = {}
        held = self._held

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                event = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if waits := held.get(event.get("branch_id", "")):
                    waits.wait(_HELD_S_MAX)
                self.send_response(500 if self.path == "/refuse" else 200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer((HOST, 0), Handler)
        self.url = f"http://{HOST}:{server.server_address[1]}"
        Thread(target=server.serve_forever, daemon=True).start()

    def hold(self, branch: str) -> None:
        """Hold the answers to hooks of the branch."""
        self._held[branch] = Event()

    def release(self, branch: str) -> None:
        """Send the answers to hooks of the branch from now on."""
        self._held[branch].set()

    def action(self, event: str, path: str) -> bytes:
        """Return an action file with one hook that calls the path."""
        text = f"""
            name: {path}
            on:
              {event}:
            hooks:
              - id: asks
                type: webhook
                properties:
                  url: {self.url}/{path}
                  timeout: 1m
        """
        return text.encode()
