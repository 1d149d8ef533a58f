/** A report is posted once, signed if the robot has a secret, and again while that may help: to a receiver that answers as robots do. */
import { webcrypto } from 'node:crypto';
import type { ReportFormat } from '../../../tools/matterctl/report/formats';
import { postReport } from '../../../tools/matterctl/report/post';
import {
  type ReceivedPost,
  type Receiver,
  type ReceiverAnswer,
  startReceiver,
} from '../../support/receiver';

const PATH = '/hook?key=ROBOT-KEY';
const ACCEPTED = { body: '{"errcode":0,"errmsg":"ok"}' };
let receiver: Receiver | undefined;
beforeEach(() => {
  // No wait between two tries.
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await receiver?.stop();
});

/** @returns the message of the error; undefined: the report was accepted */
async function post(
  format: ReportFormat,
  answers: readonly ReceiverAnswer[],
  { timeout, secret }: { readonly timeout?: number; readonly secret?: string } = {},
): Promise<string | undefined> {
  receiver = await startReceiver(...answers);
  const delivery = { url: receiver.url + PATH, format, text: '{"text":"报告"}', secret };
  const failed = await postReport(delivery, timeout).catch((error: Error) => error);
  return failed?.message;
}
const posts = () => receiver?.posts ?? [];

test.each<[ReportFormat, string]>([
  ['text', ''],
  ['json', '<html>'],
  ['wecom', '{"errcode":0,"errmsg":"ok"}'],
  ['dingtalk', '{"errcode":0,"errmsg":"ok"}'],
  ['feishu', '{"code":0,"msg":"success","data":{}}'],
  ['feishu', '{"StatusCode":0,"StatusMessage":"success"}'],
])('%s is accepted with %s', async (format, body) => {
  expect(await post(format, [{ body }])).toBeUndefined();
  const type = format === 'text' ? 'text/plain' : 'application/json';
  expect(posts()).toMatchObject([{ method: 'POST', path: PATH, text: '{"text":"报告"}' }]);
  expect(posts()[0]?.headers['content-type']).toBe(`${type}; charset=utf-8`);
});

test.each<[string, ReportFormat, ReceiverAnswer]>([
  ['a lost connection', 'wecom', 'drop'],
  ['503', 'text', { status: 503 }],
  ['429', 'json', { status: 429, headers: { 'Retry-After': '0' } }],
  ['WeCom over its rate', 'wecom', { body: '{"errcode":45009,"errmsg":"api freq out of limit"}' }],
  ['DingTalk over its rate', 'dingtalk', { body: '{"errcode":130101,"errmsg":"too fast"}' }],
  ['Feishu over its rate', 'feishu', { body: '{"code":11232,"msg":"frequency limited"}' }],
])('it is posted again after %s', async (_, format, answer) => {
  expect(await post(format, [answer, answer, ACCEPTED])).toBeUndefined();
  expect(posts().map(({ text }) => text)).toEqual(Array(3).fill('{"text":"报告"}'));
});

test.each<[ReportFormat, ReceiverAnswer, string]>([
  ['text', { status: 400, body: 'no' }, 'status 400, no'],
  [
    'json',
    { status: 302, headers: { Location: '/hook?key=ROBOT-KEY' } },
    'redirect to another path',
  ],
  [
    'wecom',
    { status: 301, headers: { Location: 'https://b.example/x?key=ROBOT-KEY' } },
    'redirect to https://b.example',
  ],
  [
    'wecom',
    { body: '{"errcode":93000,"errmsg":"invalid webhook url"}' },
    'wecom answers 93000 invalid webhook url',
  ],
  [
    'dingtalk',
    { body: '{"errcode":310000,"errmsg":"keywords not in content"}' },
    'dingtalk answers 310000 keywords not in content',
  ],
  [
    'feishu',
    { body: '{"code":19024,"msg":"Key Words Not Found"}' },
    'feishu answers 19024 Key Words Not Found',
  ],
  ['feishu', { body: '<html>sign in</html>' }, 'this is no answer of feishu: <html>sign in</html>'],
])('%s: %j is final', async (format, answer, cause) => {
  const message = await post(format, [answer]);
  expect(message).toMatch(/^the report was not posted to http:\/\/127\.0\.0\.1:\d+ \(1 try\): /);
  expect(message).toContain(cause);
  expect(message).not.toContain('ROBOT-KEY');
  expect(posts()).toHaveLength(1);
});

test.each<[string, ReceiverAnswer]>([
  ['its text', (sent) => ({ status: 404, body: `no POST ${sent.path} here` })],
  ['its text, encoded', { status: 400, body: `bad: ${encodeURIComponent(PATH)}` }],
  ['its text, cut off', { status: 400, body: 'Cannot POST /hook?key=ROBOT-' }],
  ['after a long page', { status: 400, body: `${' '.repeat(150)}${PATH}${'x'.repeat(200)}` }],
  ['an address', { status: 403, body: 'see https://b.example/hook?id=ROBOT-KEY' }],
  ['the message of a robot', { body: '{"errcode":40058,"errmsg":"no key ROBOT-KEY"}' }],
])('the key of the address is masked in %s', async (_, answer) => {
  const message = await post('wecom', [answer]);
  expect(message).toContain('…');
  expect(message).not.toContain('ROBOT-');
});

const ROBOT_SECRET = 'SEC-robot+secret';
/** Whether `sign` is the HMAC-SHA256 of a message, in Base64, with another implementation than that of the poster. */
async function isHmac(sign: string, key: string, message: string): Promise<boolean> {
  const { subtle } = webcrypto;
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const secret = await subtle.importKey('raw', Buffer.from(key), hmac, false, ['verify']);
  return subtle.verify('HMAC', secret, Buffer.from(sign, 'base64'), Buffer.from(message));
}
const isRecent = (milliseconds: number) => Math.abs(Date.now() - milliseconds) < 3_600_000;

/** Checks as the documentation of DingTalk's robots states. */
async function asDingTalk({ path = '' }: ReceivedPost) {
  const query = new URL(path, 'http://robot').searchParams;
  const [timestamp, sign] = [query.get('timestamp') ?? '', query.get('sign') ?? ''];
  const isRight = await isHmac(sign, ROBOT_SECRET, `${timestamp}\n${ROBOT_SECRET}`);
  const isValid = isRight && isRecent(Number(timestamp)) && query.get('key') === 'ROBOT-KEY';
  return { body: isValid ? '{"errcode":0}' : '{"errcode":310000,"errmsg":"sign not match"}' };
}

/** Checks as the documentation of Feishu's robots states. */
async function asFeishu({ path, text }: ReceivedPost) {
  const { timestamp, sign, ...message } = JSON.parse(text);
  const isRight = await isHmac(sign ?? '', `${timestamp}\n${ROBOT_SECRET}`, '');
  const isWhole = path === PATH && message.text === '报告';
  const isValid = isRight && isWhole && isRecent(Number(timestamp) * 1_000);
  return { body: isValid ? '{"code":0}' : '{"code":19021,"msg":"sign match fail"}' };
}

test.each<[ReportFormat, (post: ReceivedPost) => Promise<{ body: string }>]>([
  ['dingtalk', asDingTalk],
  ['feishu', asFeishu],
])('%s accepts the signature of each try, and no other one', async (format, check) => {
  expect(await post(format, [{ status: 503 }, check], { secret: ROBOT_SECRET })).toBeUndefined();
  expect(posts()).toHaveLength(2);
  await receiver?.stop();
  expect(await post(format, [check], { secret: 'another' })).toMatch(/\(1 try\): .* sign/);
  await receiver?.stop();
  expect(await post(format, [check])).toMatch(/\(1 try\): .* sign/);
});

test('it gives up after five tries', async () => {
  const message = await post('wecom', [{ status: 502 }]);
  expect(message).toBe(`the report was not posted to ${receiver?.url} (5 tries): status 502`);
  expect(posts()).toHaveLength(5);
});

test('it gives up at the deadline, and does not wait beyond it', async () => {
  expect(await post('text', ['hang'], { timeout: 200 })).toContain('(1 try): no answer in time');
  await receiver?.stop();
  // No try begins in the last second.
  expect(await post('text', [{ status: 503 }], { timeout: 900 })).toContain('(1 try): ');
  await receiver?.stop();
  const busy = { status: 503, headers: { 'Retry-After': '60' } };
  expect(await post('text', [busy], { timeout: 30_000 })).toContain('(1 try): status 503');
});

test('a receiver that is not there is named', async () => {
  const url = 'http://127.0.0.1:1/hook?key=ROBOT-KEY';
  const failed = await postReport({ url, format: 'text', text: '' }).catch((error: Error) => error);
  expect(failed?.message).toMatch(
    /^the report was not posted to http:\/\/127\.0\.0\.1:1 \(5 tries\): .*ECONNREFUSED/,
  );
});
