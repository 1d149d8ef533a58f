/** A query key made with --no-bodies (contract 3.5): no answer to it contains a text of a matter or a stored body. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QUERIES } from '../../../src/protocol/endpoints';
import { ORPHANS } from '../../../src/protocol/paths';
import { sign } from '../../../src/protocol/signature';
import { matterctl } from '../../support/cli-tool';
import { type ConsoleKey, makeConsoleKey } from '../../support/console-key';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

const MARK = 'SECRET-TEXT';
/** A text of the matter, or the quotation of a body in a diagnosis. */
const SHOWN = new RegExp(`${MARK}|"difference"`);
const TEXTS = ['title', 'summary', 'content', 'payloadJson'];
const BODY = {
  title: `${MARK} title`,
  ...{ matterType: 'TODO', externalId: 'NB-1', sourceUpdatedAt: 1_760_000_000_000 },
  ...{ summary: `${MARK} summary`, content: `${MARK} content` },
  payloadJson: JSON.stringify({ text: MARK }),
};
const folder = mkdtempSync(join(tmpdir(), 'no-bodies-'));

let service: SharedService;
let key: ConsoleKey;
let owner: ConsoleKey;
/** Of a push that was written, and of one whose signature is that of another form of its body. */
const ids = { written: '', rejected: '' };

beforeAll(async () => {
  service = await sharedService();
  const { clientId, secret } = service;
  owner = { clientId, key: secret, keyId: '' };
  ids.written = (await service.push('upsert', BODY)).requestId;
  await service.push('upsert', { ...BODY, externalId: 'NB-2', bizStatus: 'no status' });
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signed = Buffer.from(JSON.stringify(BODY, null, 2));
  const headers = { 'X-Signature': sign(secret, clientId, timestamp, signed) };
  ids.rejected = (await service.push('upsert', BODY, { timestamp, headers })).requestId;
  key = await makeConsoleKey(service, '--no-bodies');
  await until('the diagnosis', async () =>
    (await ask('push-logs/query', { requestId: ids.rejected }, owner)).includes('"difference"'),
  );
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

/** @returns the whole answer as text */
async function ask(path: string, body: unknown, signer: ConsoleKey, status = 200): Promise<string> {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const response = await fetch(`${service.urlOf()}/api/open/${path}`, {
    method: 'POST',
    body: bytes,
    headers: {
      'X-Client-Id': signer.clientId,
      'X-Timestamp': timestamp,
      'X-Signature': sign(signer.key, signer.clientId, timestamp, bytes),
    },
  });
  expect(response.status).toBe(status);
  return response.text();
}

/** The questions of each query whose answers may contain texts. */
const questions = (): Readonly<Record<string, readonly unknown[]>> => ({
  'push-logs/query': [
    { includeBody: true, limit: 50 },
    { requestId: ids.written, includeBody: true },
    { requestId: ids.rejected },
  ],
  'matters/get': [{ externalIds: ['NB-1'] }],
  'matters/query': [{}, { newestFirst: true }],
  'matters/diff': [{ lines: [{ externalId: 'NB-1', bizStatus: 'DONE' }] }],
  'users/check': [{ usernames: ['alice'] }],
  [ORPHANS]: ['"NB-9"\n'],
});
const WITH_TEXTS = ['push-logs/query', 'matters/get', 'matters/query', ORPHANS];

test.each([...QUERIES, ORPHANS])('%s shows no text to the key', async (path) => {
  for (const question of questions()[path] ?? [{}]) {
    expect(await ask(path, question, key)).not.toMatch(SHOWN);
    expect(SHOWN.test(await ask(path, question, owner))).toBe(WITH_TEXTS.includes(path));
  }
});

test('a text is omitted, and everything else of a matter is as for others', async () => {
  const get = async (signer: ConsoleKey) =>
    JSON.parse(await ask('matters/get', { externalIds: ['NB-1'] }, signer)).data.matters[0];
  const [shown, whole] = [await get(key), await get(owner)];
  for (const name of TEXTS) {
    expect(whole[name]).toContain(MARK);
    delete whole[name];
  }
  expect(shown).toEqual(whole);
});

test('a search by title is rejected, because its results would show words of titles', async () => {
  const question = { titleContains: MARK };
  expect(JSON.parse(await ask('matters/query', question, key, 403))).toMatchObject({
    code: 403,
    reason: 'SCOPE_NOT_ALLOWED',
    errors: [{ field: 'titleContains' }],
  });
  expect(JSON.parse(await ask('matters/query', question, owner))).toMatchObject({ code: 0 });
  expect(JSON.parse(await ask('matters/query', { titleContains: null }, key)).code).toBe(0);
});

test('a stored body is omitted, and the diagnosis of a signature quotes none', async () => {
  const entryOf = async (requestId: string, signer: ConsoleKey) => {
    const question = { requestId, includeBody: true };
    return JSON.parse(await ask('push-logs/query', question, signer)).data.entries[0];
  };
  expect(await entryOf(ids.written, key)).not.toHaveProperty('body');
  const [shown, whole] = [await entryOf(ids.rejected, key), await entryOf(ids.rejected, owner)];
  const causes = ({ diagnosis }: { diagnosis: { findings: { cause: string }[] } }) =>
    diagnosis.findings.map(({ cause }) => cause);
  expect(causes(shown)).toEqual(causes(whole));
});

test('clients/me, the audit trail and the list of clients show that it sees no bodies', async () => {
  const { data } = JSON.parse(await ask('clients/me', {}, key));
  expect(data.signedWith).toMatchObject({ scopes: ['query'], bodies: false });
  expect(data.queryKeys).toMatchObject([{ secretId: key.keyId, bodies: false }]);
  const own = JSON.parse(await ask('clients/me', {}, owner));
  expect(own.data.signedWith).toMatchObject({ bodies: true });
  const run = async (...args: string[]) => (await matterctl(args, { env: service.env })).stdout;
  expect(await run('audit', '--client', key.clientId, '--json')).toContain('"bodies":false');
  expect(await run('client', 'list')).toMatch(/ query, no bodies /);
});

test('matterctl shows a matter without its texts, and compares none', async () => {
  const secretFile = join(folder, 'key');
  const rows = join(folder, 'rows.ndjson');
  writeFileSync(secretFile, key.key);
  writeFileSync(rows, '{"externalId":"NB-1","bizStatus":"PENDING"}\n');
  const run = (...args: string[]) =>
    matterctl([
      ...args,
      ...['--url', service.urlOf(), '--client-id', key.clientId, '--secret-file', secretFile],
    ]);
  const matter = await run('matter', 'get', 'TEST', 'NB-1');
  expect(matter.exitCode).toBe(0);
  expect(matter.stdout).toContain('PENDING');
  const push = await run('log', 'show', ids.written, '--body');
  expect(push.stdout).toContain('The query key has no access to bodies.\n');
  const compared = await run('reconcile', rows);
  expect(compared).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('the query key has no access to bodies'),
  });
  for (const { stdout, stderr } of [matter, push, compared]) {
    expect(stdout + stderr).not.toContain(MARK);
  }
});

test('with the push scope it pushes what it cannot read', async () => {
  const pusher = await makeConsoleKey(service, '--may-push', '--no-bodies');
  const body = { externalId: 'NB-1', bizStatus: 'DONE' };
  const signer = { clientId: pusher.clientId, secret: pusher.key };
  expect(await service.push('status', body, signer)).toMatchObject({ code: 0 });
  const resend = { requestIds: [ids.written], dryRun: true };
  expect(await ask('push-logs/resend', resend, pusher)).not.toContain(MARK);
});
