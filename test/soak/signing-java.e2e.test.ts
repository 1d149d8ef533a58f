/** The Java example on JDK 8, as many business systems are: its class file, and how it retries. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sign } from '../../src/protocol/signature';
import { copyExample, missingTools } from '../support/example-run';
import { type ReceiverAnswer, startReceiver } from '../support/receiver';

const { run, env, copy, remove } = copyExample(join(__dirname, '../../examples/signing'));
afterAll(remove);

const BUILD = 'javac --release 8 -Xlint:-options -Werror -d classes Send.java';
/** Without it, Java itself sends a request again whose connection broke: the tests count the tries of the example. */
const ONE_POST_PER_TRY = '-Dsun.net.http.retryPost=false';
const RUN = `java -XX:TieredStopAtLevel=1 ${ONE_POST_PER_TRY} -cp classes Send`;
const JDK_8_CLASS_FILE = 52;
const CLIENT_ID = 'oa';
const SECRET = 'a secret of the test';

const missing = missingTools({ java: 11, javac: 11 }, env);
if (missing) {
  console.warn(`SKIPPED: the example in Java was not tried, because there is no ${missing} here`);
  test.skip(`the example in Java (skipped: no ${missing} here)`, () => {});
} else {
  describe('the example in Java', tryJava);
}

const answer = (code: number, fields: object, headers?: Record<string, string>) => ({
  status: code || 200,
  headers,
  body: JSON.stringify({ code, message: '', ...fields }),
});
const DONE = answer(0, { data: { outcome: 'CREATED' } });

/** The answer to a batch of which one line succeeded; the others failed with these codes. */
function partly(...failed: readonly { readonly code: number; readonly retryable: boolean }[]) {
  const retryable = failed.some((line) => line.retryable);
  const data = { results: [{ code: 0, outcome: 'CREATED' }, ...failed] };
  return answer(207, { data, reason: 'PARTIAL_FAILURE', retryable });
}

/** Runs the example against a receiver that gives these answers. */
async function sendTo(answers: readonly ReceiverAnswer[], argument = '') {
  const receiver = await startReceiver(...answers);
  const settings = { MATTER_PUSH_URL: receiver.url, CLIENT_ID, CLIENT_SECRET: SECRET };
  try {
    const { code, stdout, stderr } = await run(`${RUN} ${argument}`.trim(), settings);
    return { code, stdout, pauses: stderr.match(/\d+ ms/g) ?? [], posts: receiver.posts };
  } finally {
    await receiver.stop();
  }
}

function tryJava(): void {
  beforeAll(async () => {
    expect(await run(BUILD)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('is compiled for JDK 8', () => {
    const bytes = readFileSync(join(copy, 'classes/Send.class'));
    expect(bytes.readUInt16BE(6)).toBe(JDK_8_CLASS_FILE);
  });

  test('retries what is retryable, or has no answer, with one key and body, and a new signature', async () => {
    const page = { status: 502, body: '<html>bad gateway</html>' };
    const full = { reason: 'BACKLOG_FULL', retryable: true };
    const later = answer(503, full, { 'Retry-After': '2' });
    const { code, stdout, pauses, posts } = await sendTo([later, 'drop', page, DONE]);
    expect([code, JSON.parse(stdout).code]).toEqual([0, 0]);
    // After Retry-After, otherwise after 1 s, 2 s, 4 s.
    expect(pauses).toEqual(['2000 ms', '2000 ms', '4000 ms']);
    expect(posts).toHaveLength(4);
    const [first] = posts;
    for (const { path, headers, text } of posts) {
      expect([path, text]).toEqual(['/api/open/matters/upsert', first?.text]);
      expect(headers['x-idempotency-key']).toBe('EXAMPLE-java/created');
      const timestamp = String(headers['x-timestamp']);
      const expected = sign(SECRET, CLIENT_ID, timestamp, Buffer.from(text));
      expect(headers['x-signature']).toBe(expected);
    }
    expect(new Set(posts.map(({ headers }) => headers['x-timestamp'])).size).toBeGreaterThan(1);
  });

  test('gives up after five tries, and prints the last answer', async () => {
    const shed = answer(503, { reason: 'BACKLOG_FULL', retryable: true });
    const { code, stdout, pauses, posts } = await sendTo([shed]);
    expect([code, JSON.parse(stdout).code, posts.length]).toEqual([1, 503, 5]);
    expect(pauses).toEqual(['1000 ms', '2000 ms', '4000 ms', '8000 ms']);
  });

  test('sends nothing again that is not retryable', async () => {
    for (const rejected of [
      answer(400, { reason: 'VALIDATION_FAILED', retryable: false }),
      { status: 404, body: '<html>no such page</html>' },
    ]) {
      const { code, posts } = await sendTo([rejected]);
      expect([code, posts.length]).toEqual([1, 1]);
    }
  });

  test('sends a batch again only if every failed line is retryable', async () => {
    const [full, wrong] = [
      { code: 503, retryable: true },
      { code: 400, retryable: false },
    ];
    const again = await sendTo([partly(full, full), DONE], 'batch');
    expect([again.code, again.posts.length]).toEqual([0, 2]);
    expect(again.posts[1]?.text).toBe(again.posts[0]?.text);
    const never = await sendTo([partly(full, wrong), DONE], 'batch');
    expect([never.code, never.posts.length]).toEqual([1, 1]);
  });
}
