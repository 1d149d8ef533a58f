"""One signed push, with Python 3. As `python3 send.py sign` it signs what is on stdin."""

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


def send() -> int:
    url, client_id, secret = map(setting, ("MATTER_PUSH_URL", "CLIENT_ID", "CLIENT_SECRET"))
    matter = {"matterType": "TODO", "externalId": "EXAMPLE-python", "title": "审批：采购申请"}
    # Made once: these bytes are signed, and these bytes are sent. A library that is handed `matter`
    # (as `json=` of requests) serializes it again, with other blanks.
    body = json.dumps(matter).encode()
    timestamp = str(int(time.time()))  # seconds, not milliseconds
    headers = {
        "Content-Type": "application/json",
        "X-Client-Id": client_id,
        "X-Timestamp": timestamp,
        "X-Signature": sign(client_id, timestamp, secret, body),
        # One per change: a retry with it is answered, but not applied again.
        "X-Idempotency-Key": "EXAMPLE-python/created",
    }
    request = urllib.request.Request(f"{url}/api/open/matters/upsert", body, headers)
    try:
        answer = urllib.request.urlopen(request, timeout=30).read()
    except urllib.error.HTTPError as rejected:
        answer = rejected.read()  # a rejection has the envelope too
    sys.stdout.buffer.write(answer + b"\n")
    return 0 if json.loads(answer)["code"] == 0 else 1


sys.exit(sign_stdin() if sys.argv[1:] == ["sign"] else send())
