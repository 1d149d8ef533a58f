/** A client's own rate: in force on a running web process within a second, told in the headers, and gone. */
import { clientModel } from '../../../src/storage/directory/client-model';
import { matterctl } from '../../support/cli-tool';
import { todo } from '../../support/push-bodies';
import type { Answer, PushOptions } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

let service: Service;
let other: Pick<PushOptions, 'clientId' | 'secret'>;
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT: '50', RATE_BURST: '100' } });
  const { stdout } = await ctl('client', 'create', '--id', 'other', '--system-code', 'OTHER');
  const { clientId, secret } = JSON.parse(stdout);
  other = { clientId, secret };
});
afterAll(() => service.stop());
afterEach(async () => {
  await limit('--default');
  await untilPolicy(DEFAULT);
});

const DEFAULT = '"client";q=100;w=2';
const ctl = (...args: string[]) => matterctl([...args, '--json'], { env: service.env });
const limit = async (...args: string[]) =>
  JSON.parse((await ctl('client', 'limit', service.clientId, ...args)).stdout).limit;
const send = (key: string, options: Partial<PushOptions> = {}) =>
  service.push('upsert', todo(key), options);
const policyOf = ({ headers }: Answer) => headers['ratelimit-policy'];
/** An answer, whatever it is, that tells this policy. */
const untilPolicy = (policy: string | undefined) =>
  until(`the policy ${policy}`, async () => {
    const answer = await send('POLICY');
    return policyOf(answer) === policy && answer;
  });
const crowd = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => send(`CROWD-${n % 8}`)));

test('holds in place of the settings, and is told with every answer', async () => {
  expect(policyOf(await send('A'))).toBe(DEFAULT);
  expect(await limit('--rate', '1', '--burst', '7')).toEqual({ rate: 1, burst: 7 });
  await untilPolicy('"client";q=7;w=7');
  const answers = await crowd(60);
  expect(new Set(answers.map(policyOf))).toEqual(new Set(['"client";q=7;w=7']));
  const limited = answers.filter(({ code }) => code === 429);
  // The settings would have admitted all of them.
  expect(limited.length).toBeGreaterThan(0);
  expect(limited[0]?.headers).toMatchObject({ 'retry-after': '1', ratelimit: '"client";r=0;t=7' });
  expect(answers.filter(({ code }) => code === 0).length).toBeGreaterThan(0);
});

test('is of that client alone', async () => {
  await limit('--rate', '5', '--burst', '7');
  await untilPolicy('"client";q=7;w=2');
  const answer = await send('OTHERS', other);
  expect(answer.code).toBe(0);
  expect(policyOf(answer)).toBe(DEFAULT);
});

test('what is not given stays: the settings’, or what was given before', async () => {
  expect(await limit('--rate', '25')).toEqual({ rate: 25 });
  await untilPolicy('"client";q=100;w=4');
  expect(await limit('--burst', '10')).toEqual({ rate: 25, burst: 10 });
  await untilPolicy('"client";q=10;w=1');
  expect(await limit('--default')).toBeNull();
  await untilPolicy(DEFAULT);
});

test('a rate of 0 is none, and told by no header', async () => {
  await limit('--rate', '0');
  await untilPolicy(undefined);
  const answers = await crowd(150);
  expect(answers.every(({ code }) => code === 0)).toBe(true);
  expect(answers.some(({ headers }) => 'ratelimit' in headers)).toBe(false);
});

test('what was spent under a slow rate does not hold up under a faster one', async () => {
  await limit('--rate', '1');
  await untilPolicy('"client";q=100;w=100');
  await until('a spent burst', async () => {
    const limited = (await crowd(50)).filter(({ code }) => code === 429);
    return limited.length > 40;
  });
  // A burst of a hundred at one per second would be there again in a hundred seconds.
  await limit('--rate', '1000');
  await until('a push to be admitted', async () => (await send('FASTER')).code === 0);
});

test('is listed; a client without one has the settings’', async () => {
  await limit('--rate', '25');
  const listed = JSON.parse((await ctl('client', 'list')).stdout);
  const limits = new Map(listed.map((client: { clientId: string }) => [client.clientId, client]));
  expect(limits.get(service.clientId)).toMatchObject({ limit: { rate: 25 } });
  expect(limits.get('other')).toMatchObject({ limit: null });
  const { stdout } = await matterctl(['client', 'list'], { env: service.env });
  expect(stdout).toMatch(/tester +TEST +CONFIDENTIAL +enabled +rate 25, burst default/);
  expect(stdout).toMatch(/other +OTHER +CONFIDENTIAL +enabled +default/);
  // As every record was before there were any.
  expect(await clientModel(service.db).findById('other').lean()).not.toHaveProperty('limit');
});

test('a record that was spoilt by hand takes no other client with it', async () => {
  const clients = service.db.collection<{ _id: string }>('clients');
  const spoil = (to: object) => clients.updateOne({ _id: 'other' }, to);
  await spoil({ $set: { limit: { rate: 'many', burst: -1 } } });
  await until('the client to be unknown', async () => (await send('SPOILT', other)).code === 401);
  // What the tests before have spent of its own rate may have to flow off first.
  await until('the other client to be served', async () => (await send('WHOLE')).code === 0);
  await spoil({ $unset: { limit: 1 } });
  await until('the client to be back', async () => (await send('SPOILT', other)).code === 0);
});

test.each([
  [['tester'], 2, 'give --rate, --burst or --default'],
  [['tester', '--rate', '-1'], 2, 'a whole number from 0 to 1000000'],
  [['tester', '--rate', '1.5'], 2, 'a whole number'],
  [['tester', '--rate', '1000001'], 2, 'a whole number'],
  [['tester', '--burst', '0'], 2, 'a whole number from 1 to 1000000'],
  [['tester', '--default', '--rate', '5'], 2, 'cannot be used with option'],
  [['nobody', '--rate', '5'], 1, 'there is no client nobody'],
])('client limit %j fails in one line', async (args, exitCode, message) => {
  const failed = await ctl('client', 'limit', ...args);
  expect(failed).toMatchObject({ exitCode, stdout: '' });
  expect(failed.stderr).toContain(message);
});
