"""Forms of browsers with a signed policy, for a gateway in memory."""

import base64
import json
from dataclasses import dataclass
from typing import Any

from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures.version2 import sign
from tests.support.clients.api import ACCESS_KEY_ID, SECRET
from tests.support.worlds.gateway_stack import HOST, REPO, CutBody, GatewayStack, Reply


@dataclass(frozen=True)
class Form:
    """A browser's form with a file, which a policy allows."""

    stack: GatewayStack
    conditions: tuple[Any, ...] = ({"bucket": REPO}, ["starts-with", "$key", "main/"])
    access_key_id: str = ACCESS_KEY_ID
    secret: str = SECRET
    content: bytes = b"new"
    behind: str = ""  # a field behind the file

    def send(self, bucket: str = REPO, **fields: str) -> Reply:
        document = {"expiration": "2099-01-01T00:00:00Z", "conditions": self.conditions}
        policy = base64.b64encode(json.dumps(document).encode())
        signed = {
            "AWSAccessKeyId": self.access_key_id,
            "policy": policy.decode(),
            "signature": sign(self.secret, policy),
            "key": "main/a",
            **fields,
        }
        parts = [(name, value.encode()) for name, value in signed.items()]
        parts += [("file", self.content), *([(self.behind, b"")] if self.behind else [])]
        lead = '--B\r\nContent-Disposition: form-data; name="{}"\r\n\r\n'
        body = b"".join(lead.format(name).encode() + value + b"\r\n" for name, value in parts)
        body += b"--B--\r\n"
        headers = {
            "host": HOST,
            "content-type": "multipart/form-data; boundary=B",
            "content-length": str(len(body)),
        }
        head = RequestHead("POST", f"/{bucket}", "", list(headers.items()))
        return self.stack.send(head, CutBody(body))
