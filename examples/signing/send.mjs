/**
 * One signed push, with Node 20 or newer; as `node send.mjs batch` several in one request. As
 * `node send.mjs sign` it signs what is on stdin.
 */
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

/** Made once: these bytes are signed, and these bytes are sent. Nothing may serialize them again. */
function one() {
  const matter = { matterType: 'TODO', externalId: 'EXAMPLE-node', title: '审批：采购申请' };
  return Buffer.from(JSON.stringify(matter));
}

/** One push a line, at most 1,000 lines; those of one matter take effect in their order. */
function several() {
  const matter = { matterType: 'TODO', externalId: 'EXAMPLE-node-batch', title: '审批：差旅报销' };
  const approved = { externalId: 'EXAMPLE-node-batch', bizStatus: 'APPROVED' };
  const pushes = [
    { op: 'upsert', body: matter },
    { op: 'status', body: approved },
  ];
  return Buffer.from(pushes.map((push) => `${JSON.stringify(push)}\n`).join(''));
}

async function send(operation, body, key) {
  const [url, clientId, secret] = ['MATTER_PUSH_URL', 'CLIENT_ID', 'CLIENT_SECRET'].map(setting);
  const timestamp = String(Math.floor(Date.now() / 1000)); // seconds, not milliseconds
  const response = await fetch(`${url}/api/open/matters/${operation}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Client-Id': clientId,
      'X-Timestamp': timestamp,
      'X-Signature': sign(clientId, timestamp, secret, body),
      // One per change, or per batch: a retry with it is answered, but not applied again.
      'X-Idempotency-Key': key,
    },
    body,
    signal: AbortSignal.timeout(60_000),
  });
  const answer = await response.text();
  console.log(answer); // of a batch: what became of each line, in data.results
  process.exitCode = JSON.parse(answer).code === 0 ? 0 : 1;
}

if (process.argv[2] === 'sign') await signStdin();
else if (process.argv[2] === 'batch') await send('batch', several(), 'EXAMPLE-node/batch');
else await send('upsert', one(), 'EXAMPLE-node/created');
