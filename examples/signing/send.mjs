/** One signed push, with Node 20 or newer. As `node send.mjs sign` it signs what is on stdin. */
import { createHmac } from 'node:crypto';
import { buffer } from 'node:stream/consumers';

/** @returns HMAC-SHA256 of client id, timestamp and the body's bytes, in hex */
function sign(clientId, timestamp, secret, body) {
  return createHmac('sha256', secret)
    .update(`${clientId}\n${timestamp}\n`)
    .update(body)
    .digest('hex');
}

/** Three lines, and what follows is the body, byte for byte. */
async function signStdin() {
  let rest = await buffer(process.stdin);
  const [clientId, timestamp, secret] = [1, 2, 3].map(() => {
    const end = rest.indexOf('\n');
    const line = rest.toString('utf8', 0, end);
    rest = rest.subarray(end + 1);
    return line;
  });
  console.log(sign(clientId, timestamp, secret, rest));
}

function setting(name) {
  const value = process.env[name];
  if (value) return value;
  console.error(`${name} is not set`);
  process.exit(2);
}

async function send() {
  const [url, clientId, secret] = ['MATTER_PUSH_URL', 'CLIENT_ID', 'CLIENT_SECRET'].map(setting);
  const matter = { matterType: 'TODO', externalId: 'EXAMPLE-node', title: '审批：采购申请' };
  // Made once: these bytes are signed, and these bytes are sent. Do not hand `matter` to something
  // that serializes it again.
  const body = Buffer.from(JSON.stringify(matter));
  const timestamp = String(Math.floor(Date.now() / 1000)); // seconds, not milliseconds
  const response = await fetch(`${url}/api/open/matters/upsert`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Client-Id': clientId,
      'X-Timestamp': timestamp,
      'X-Signature': sign(clientId, timestamp, secret, body),
      // One per change: a retry with it is answered, but not applied again.
      'X-Idempotency-Key': 'EXAMPLE-node/created',
    },
    body,
    signal: AbortSignal.timeout(30_000),
  });
  const answer = await response.text();
  console.log(answer);
  process.exitCode = JSON.parse(answer).code === 0 ? 0 : 1;
}

await (process.argv[2] === 'sign' ? signStdin() : send());
