/** `matterctl erase`: what is kept of a user besides the parties is gone, and everything else stays. */
import { createHash } from 'node:crypto';
import { auditModel } from '../../../src/storage/audit';
import { importUsers } from '../../../src/storage/directory/user-admin';
import { matterModel } from '../../../src/storage/ledger/matters';
import { bodyModel, entryModel } from '../../../src/storage/push-log/entry';
import { matterctl } from '../../support/cli-tool';
import { todo } from '../../support/push-bodies';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

/** Only this file uses the name: the command reads the pushes of all clients. */
const NAME = 'zhang-san';
const ERASED = [{ username: NAME, partyRole: 'ASSIGNEE' }];
const BOB = [{ username: 'bob', partyRole: 'ASSIGNEE' }];

let service: SharedService;
/** Request ids: of a body with the name in an escaped form, and of one that names another user. */
const ids = { escaped: '', other: '' };
beforeAll(async () => {
  service = await sharedService();
  await importUsers(service.db, [{ username: NAME, displayName: 'Zhang San' }]);
  const { push } = service;
  const handedOver = todo('E-1', { parties: ERASED });
  await push('upsert', handedOver);
  await push('upsert', { ...handedOver, parties: BOB, replaceParties: true });
  await push('upsert', todo('E-2', { parties: ERASED }));
  await push('upsert', todo('E-3', { parties: BOB, content: `asked by ${NAME}.` }));
  const escaped = JSON.stringify(todo('E-4', { parties: ERASED })).replace(NAME, '\\u007ahang-san');
  ids.escaped = (await push('upsert', escaped)).requestId;
  await push('upsert', `{"title":"of ${NAME}",`);
  const payloadJson = '{"approver":"\\u007ahang-san"}';
  await push('upsert', todo('E-6', { parties: BOB, payloadJson }));
  // Lines of a batch, sent as a single push.
  await push('upsert', '{"op":"upsert"}\n{"op":"upsert","body":{"title":"\\u007ahang-san"}}\n');
  ids.other = (await push('upsert', todo('E-5', { parties: BOB, title: `x${NAME}` }))).requestId;
});
afterAll(() => service.stop());

const run = (...args: string[]) =>
  matterctl(['erase', ...args, '--operator', 'ann'], { env: service.env });
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
const matter = (externalId: string) => matterModel(service.db).findOne({ externalId }).lean();
/** Of this file's client: pushes of the file before can be recorded late. */
const entries = () => entryModel(service.db).find({ clientId: service.clientId }).lean();
const bodies = async () => {
  const own = (await entries()).map(({ _id }) => _id);
  const stored = await bodyModel(service.db)
    .find({ _id: { $in: own } })
    .lean();
  return stored.map(({ body }) => Buffer.from(body.buffer).toString());
};
const changes = async () => JSON.stringify((await entries()).map((entry) => entry.changes));
const trail = () => auditModel(service.db).find({ command: 'erase' }).lean();

const COUNTS = { matters: 1, entries: 4, bodies: 7 };

test('a dry run counts, and changes nothing', async () => {
  const before = [await matter('E-1'), await bodies(), await changes()];
  expect(await json('--user', NAME, '--dry-run')).toEqual({
    ...{ user: NAME, dryRun: true },
    ...COUNTS,
  });
  const { stdout } = await run('--user', NAME, '--dry-run');
  expect(stdout).toMatch(/^would be erased:\npast handler of matters +1\n/);
  expect([await matter('E-1'), await bodies(), await changes()]).toEqual(before);
  expect(await trail()).toEqual([]);
});

test('a user is erased from past handlers, changes and bodies, and stays a party', async () => {
  const before = await matter('E-1');
  expect(before?.pastHandlers).toEqual([NAME]);
  expect(await changes()).toContain(NAME);
  expect(await json('--user', NAME)).toEqual({ user: NAME, dryRun: false, ...COUNTS });
  const after = await matter('E-1');
  expect(after).toMatchObject({ pastHandlers: [], revision: (before?.revision ?? 0) + 1 });
  expect(after?.updatedAt.getTime()).toBeGreaterThan(before?.updatedAt.getTime() ?? 0);
  expect(await changes()).not.toContain(NAME);
  expect(await changes()).toContain('ASSIGNEE bob');
  const kept = await bodies();
  expect(kept).toHaveLength(2);
  for (const body of kept) expect(body).not.toMatch(/\bzhang-san/);
  expect((await matter('E-2'))?.parties).toMatchObject(ERASED);
  expect(await json('--user', NAME, '--dry-run')).toMatchObject({
    ...{ matters: 0, entries: 0, bodies: 0 },
  });
});

test('the audit trail has the counts and a digest, and not the name', async () => {
  const [entry, ...others] = await trail();
  expect(others).toEqual([]);
  const userHash = createHash('sha256').update(NAME).digest('hex');
  expect(entry).toMatchObject({ operator: 'ann', outcome: 'DONE', details: { userHash } });
  expect(entry?.result).toEqual(COUNTS);
  expect(JSON.stringify(entry)).not.toContain(NAME);
});

test.each(['e+rase', 'e.rase', '擦除员'])(
  '%s is erased from warnings and problems',
  async (name) => {
    const body = todo(`E-${name}`, { parties: BOB });
    const warned = await service.push('upsert', { ...body, initiatorUsername: name });
    expect(warned.data.warnings).toMatchObject([{ kind: 'UNKNOWN_INITIATOR' }]);
    const parties = [...BOB, { username: name, partyRole: 'CC' }];
    const rejected = await service.push('upsert', { ...body, parties });
    const texts = async () => {
      const found = await entryModel(service.db)
        .find({ _id: { $in: [warned.requestId, rejected.requestId] } })
        .sort({ _id: 1 })
        .lean();
      return found.flatMap(({ warnings = [], problems = [] }) => [...warnings, ...problems]);
    };
    const before = await texts();
    const erasedTexts = before.map(({ message, english, ...others }) => ({
      ...others,
      message: message.replace(name, '***'),
      english: english?.replace(name, '***'),
    }));
    const counts = { matters: 0, entries: 2, bodies: 2 };
    expect(await json('--user', name, '--dry-run')).toMatchObject(counts);
    expect(await texts()).toEqual(before);
    expect(await json('--user', name)).toMatchObject(counts);
    expect(await texts()).toEqual(erasedTexts);
    expect(JSON.stringify(erasedTexts)).not.toContain(name);
    expect(await json('--user', name, '--dry-run')).toMatchObject({ entries: 0, bodies: 0 });
    expect(JSON.stringify(await trail())).not.toContain(name);
  },
);

test('pushes of an erased matter go on, and an erased body is not resent', async () => {
  const status = { externalId: 'E-1', bizStatus: 'DONE' };
  expect(await service.push('status', status)).toMatchObject({ code: 0 });
  const path = '/api/open/push-logs/resend';
  const resend = { requestIds: [ids.escaped], dryRun: true };
  const { data } = await service.push('', resend, { path });
  expect(JSON.stringify(data)).not.toContain(NAME);
});

test('the stored body of one request is erased', async () => {
  expect(await json('--request', ids.other, '--dry-run')).toMatchObject({ bodies: 1 });
  const { exitCode, stdout } = await run('--request', ids.other);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'erased:\nstored bodies  1\n' });
  expect(JSON.stringify(await bodies())).not.toContain(`x${NAME}`);
  const show = ['log', 'show', ids.other, '--body'];
  const shown = await matterctl(show, { env: service.env });
  expect(shown.stdout).toContain('The body is not kept (any more).');
  expect(await run('--request', ids.other)).toMatchObject({
    exitCode: 1,
    stderr: `matterctl: no body of ${ids.other} is stored\n`,
  });
});

test.each([[[]], [['--user', 'a', '--request', '0123456789abcdef01234567']], [['--user', '']]])(
  '%j is wrong usage',
  async (args) => {
    expect(await run(...args)).toMatchObject({ exitCode: 2, stdout: '' });
  },
);
