"""Signs what schemathesis sends, at the last moment: the bytes that go out are the bytes that are signed."""

import hashlib
import hmac
import json
import os
import time

import requests.auth
import schemathesis

CLIENT_ID = os.environ["CLIENT_ID"]
SECRET = os.environ["CLIENT_SECRET"].encode()


class Signed(requests.auth.AuthBase):
    def __call__(self, request):
        body = request.body or b""
        if isinstance(body, str):
            body = body.encode()
            request.body = body
        timestamp = str(int(time.time()))
        message = f"{CLIENT_ID}\n{timestamp}\n".encode() + body
        request.headers["X-Client-Id"] = CLIENT_ID
        request.headers["X-Timestamp"] = timestamp
        request.headers["X-Signature"] = hmac.new(SECRET, message, hashlib.sha256).hexdigest()
        return request


schemathesis.auth.set_from_requests(Signed())


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    """A line for each item of a list, else one line."""
    items = value if isinstance(value, list) else [value]
    return "".join(json.dumps(item) + "\n" for item in items).encode()
