/** A request head over 16 KiB: what the caller and the operator learn, also of other requests that are none. */
import { readFileSync } from 'node:fs';
import { connectRaw } from '../../support/raw-http';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

let service: Service;
beforeAll(async () => {
  const env = { PUBLIC_URL: 'https://portal.example/push/', KEEP_ALIVE_TIMEOUT: '70s' };
  service = await startService({ env });
});
afterAll(() => service.stop());

interface Expected {
  readonly code: number;
  readonly reason: string;
  readonly message?: string;
  readonly retryable?: boolean;
}

const BROKEN: [string, string, Expected][] = [
  [
    'cookies of a single sign-on',
    `POST /api/open/matters/upsert HTTP/1.1\r\nHost: a\r\nCookie: ${'s'.repeat(20_000)}\r\n\r\n`,
    { code: 431, message: '请求头过大', reason: 'HEADERS_TOO_LARGE', retryable: false },
  ],
  [
    'a very long path',
    `GET /${'p'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    { code: 431, reason: 'HEADERS_TOO_LARGE' },
  ],
  ['no HTTP at all', 'GARBAGE\r\n\r\n', { code: 400, reason: 'MALFORMED_REQUEST' }],
  [
    'a head with two readings',
    'GET / HTTP/1.1\r\n\r\n',
    { code: 400, reason: 'MALFORMED_REQUEST' },
  ],
];

async function answerTo(bytes: string) {
  const caller = await connectRaw(service.urlOf());
  caller.send(bytes);
  const [answer] = await caller.untilAnswers(1);
  caller.socket.destroy();
  expect(answer?.headers.get('connection')).toBe('close');
  const envelope = answer?.envelope();
  expect(answer?.status).toBe(envelope?.code);
  return envelope;
}

test.each(BROKEN)('%s is rejected by name, and logged', async (_what, bytes, expected) => {
  // The log has one line of a kind for each second.
  const logged = await until('a line in the log', async () => {
    const envelope = await answerTo(bytes);
    expect(envelope).toMatchObject(expected);
    return logLines().find(({ requestId }) => requestId === envelope?.requestId);
  });
  expect(logged).toMatchObject({ msg: 'rejected', ...only(expected) });
});

const only = ({ code, reason }: Expected) => ({ code, reason });

test('help leads below the path of PUBLIC_URL: of an answer, and of a request that is none', async () => {
  const pushed = await service.push('status', { externalId: 'NONE' });
  expect(pushed).toMatchObject({ help: '/push/docs#reason-MATTER_NOT_FOUND' });
  const broken = await answerTo('GARBAGE\r\n\r\n');
  expect(broken).toMatchObject({ help: '/push/docs#reason-MALFORMED_REQUEST' });
  const lines = '{"op":"status","body":{"externalId":"NONE"}}\n';
  const batch = await service.push('batch', lines);
  expect(batch).toMatchObject({ code: 207, help: '/push/docs#reason-PARTIAL_FAILURE' });
});

test('an idle connection is kept for KEEP_ALIVE_TIMEOUT', async () => {
  const { headers } = await service.push('get', { externalIds: ['NONE'] });
  expect(headers['keep-alive']).toBe('timeout=70');
});

test.each(['UTF-8', 'utf8', 'GBK'])(
  'Content-Encoding: %s is answered with what is wrong',
  async (encoding) => {
    const headers = { 'Content-Encoding': encoding };
    const answer = await service.push('get', { externalIds: ['NONE'] }, { headers });
    expect(answer).toMatchObject({ code: 415, reason: 'UNSUPPORTED_ENCODING' });
    expect(answer.message).toMatch(
      /^不支持的 Content-Encoding：.*Content-Type: application\/json; charset=utf-8/,
    );
  },
);

const logLines = () =>
  readFileSync(String(service.webs[0]?.logFile), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { readonly msg: string; readonly requestId?: string });
