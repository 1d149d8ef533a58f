"""One signed push, with Python 3; as `python3 send.py batch` several in one request.

As `python3 send.py sign` it signs what is on stdin.
"""

import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.request


def sign(client_id: str, timestamp: str, secret: str, body: bytes) -> str:
    message = f"{client_id}\n{timestamp}\n".encode() + body
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()


def sign_stdin() -> None:
    """Three lines, and what follows is the body, byte for byte."""
    *lines, body = sys.stdin.buffer.read().split(b"\n", 3)
    client_id, timestamp, secret = (line.decode() for line in lines)
    print(sign(client_id, timestamp, secret, body))


def setting(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        print(f"{name} is not set", file=sys.stderr)
        sys.exit(2)
    return value


def one() -> bytes:
    """Made once: these bytes are signed, and these bytes are sent.

    A library that is handed `matter` (as `json=` of requests) serializes it again, with other blanks.
    """
    matter = {"matterType": "TODO", "externalId": "EXAMPLE-python", "title": "审批：采购申请"}
    return json.dumps(matter).encode()


def several() -> bytes:
    """One push a line, at most 1,000 lines; those of one matter take effect in their order."""
    external_id = "EXAMPLE-python-batch"
    matter = {"matterType": "TODO", "externalId": external_id, "title": "审批：差旅报销"}
    approved = {"externalId": external_id, "bizStatus": "APPROVED"}
    pushes = [{"op": "upsert", "body": matter}, {"op": "status", "body": approved}]
    return "".join(json.dumps(push) + "\n" for push in pushes).encode()


def send(operation: str, body: bytes, key: str) -> int:
    url, client_id, secret = map(setting, ("MATTER_PUSH_URL", "CLIENT_ID", "CLIENT_SECRET"))
    timestamp = str(int(time.time()))  # seconds, not milliseconds
    headers = {
        "Content-Type": "application/json",
        "X-Client-Id": client_id,
        "X-Timestamp": timestamp,
        "X-Signature": sign(client_id, timestamp, secret, body),
        # One per change, or per batch: a retry with it is answered, but not applied again.
        "X-Idempotency-Key": key,
    }
    request = urllib.request.Request(f"{url}/api/open/matters/{operation}", body, headers)
    try:
        answer = urllib.request.urlopen(request, timeout=60).read()
    except urllib.error.HTTPError as rejected:
        answer = rejected.read()  # a rejection has the envelope too
    sys.stdout.buffer.write(answer + b"\n")  # of a batch: what became of each line, in data.results
    return 0 if json.loads(answer)["code"] == 0 else 1


if sys.argv[1:] == ["sign"]:
    sys.exit(sign_stdin())
if sys.argv[1:] == ["batch"]:
    sys.exit(send("batch", several(), "EXAMPLE-python/batch"))
sys.exit(send("upsert", one(), "EXAMPLE-python/created"))
