import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureSecretKeys } from '../../../tools/local/data-dir';
import { earlierDataNotes } from '../../../tools/local/earlier-data';
import { firstPush } from '../../../tools/local/first-push';
import { metricsPortOf, readStartSettings, urlFor } from '../../../tools/local/settings';

const demo = { clientId: 'demo-oa', secret: 's3cret+/=', usernames: ['zhang.san'] };

test('the first push, pasted into a shell, signs what it sends', () => {
  // Stands in for curl: shows its arguments, one a line.
  const shell = `curl() { printf '%s\\n' "$@"; }\n${firstPush('http://127.0.0.1:3000', demo)}`;
  const sent = execFileSync('sh', ['-c', shell], { encoding: 'utf8' }).split('\n');
  const header = (name: string) =>
    sent.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const body = sent[sent.indexOf('--data-binary') + 1];
  const signed = `demo-oa\n${header('X-Timestamp')}\n${body}`;
  const expected = createHmac('sha256', demo.secret).update(signed).digest('hex');
  expect(header('X-Signature')).toBe(expected);
  expect(JSON.parse(body ?? '')).toMatchObject({ externalId: 'DEMO-1', title: '审批：采购申请' });
});

test('the sealing keys are made once, and are for their owner only', () => {
  const dir = mkdtempSync(join(tmpdir(), 'embedded-keys-'));
  const keys = ensureSecretKeys(dir);
  expect(keys).toMatch(/^k1:[A-Za-z0-9+/]{43}=$/);
  expect(ensureSecretKeys(dir)).toBe(keys);
  expect(statSync(join(dir, 'secret-keys')).mode & 0o777).toBe(0o600);
  rmSync(dir, { recursive: true });
});

test('data of an earlier embedded server is named, and nothing else is', () => {
  const dir = mkdtempSync(join(tmpdir(), 'embedded-earlier-'));
  expect(earlierDataNotes(join(dir, 'not-made-yet'))).toEqual([]);
  for (const name of ['mongod', 'empty', 'another']) mkdirSync(join(dir, name));
  for (const path of ['mongod/data', 'another/data', 'a-file']) writeFileSync(join(dir, path), 'x');
  const notes = earlierDataNotes(dir);
  expect(notes).toHaveLength(1);
  expect(notes[0]).toContain(`(in ${join(dir, 'another')}) is not read, and is left alone`);
  rmSync(dir, { recursive: true });
});

test('settings have their defaults, and an empty variable counts as absent', () => {
  expect(readStartSettings({ PORT: '', MONGO_URL: '' }, '/project')).toMatchObject({
    host: '127.0.0.1',
    port: 3000,
    workers: 1,
    dataDir: '/project/.data',
    mongoUrl: undefined,
  });
});

test.each([
  ['127.0.0.1', 'on'],
  ['127.1.2.3', 'on'],
  ['localhost', 'on'],
  ['::1', 'on'],
  ['0.0.0.0', 'off'],
  ['::', 'off'],
  ['10.0.0.1', 'off'],
  ['127.example', 'off'],
])('listening on %s, the demo client is on the page: %s', (host, demo) => {
  expect(readStartSettings({ HOST: host }, '/project').docsDemo).toBe(demo);
  expect(readStartSettings({ HOST: host, DOCS_DEMO: 'off' }, '/project').docsDemo).toBe('off');
  expect(readStartSettings({ HOST: host, DOCS_DEMO: 'on' }, '/project').docsDemo).toBe('on');
});

test('bad settings are all told before anything starts', () => {
  const read = () => readStartSettings({ PORT: '99999', REDIS_URL: 'http://x' }, '/project');
  expect(read).toThrow('PORT');
  expect(read).toThrow('REDIS_URL');
  expect(() => readStartSettings({ WORKERS: 'two' }, '/project')).toThrow('WORKERS');
});

test('each process of npm start has a metrics port of its own, or none of them has', () => {
  const names = ['web', 'worker-1', 'worker-12'];
  expect(names.map((name) => metricsPortOf(9464, name))).toEqual([9464, 9465, 9476]);
  expect(names.map((name) => metricsPortOf(0, name))).toEqual([0, 0, 0]);
  expect(readStartSettings({ METRICS_PORT: '9464' }, '/project').metricsPort).toBe(9464);
});

test.each([
  ['0.0.0.0', 'http://127.0.0.1:3000'],
  ['::1', 'http://[::1]:3000'],
  ['portal.local', 'http://portal.local:3000'],
])('listening on %s is told as %s', (host, url) => {
  expect(urlFor(host, 3000)).toBe(url);
});
