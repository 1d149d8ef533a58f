/** The ledger's other writers: what the portal's own side writes is never undone by a push. */
import type { mongo } from 'mongoose';
import type { Operation } from '../../../src/domain/operation';
import { connectMongo } from '../../../src/infra/mongo';
import { createLedger } from '../../../src/storage/ledger';
import { matterModel } from '../../../src/storage/ledger/matters';
import { inTransaction } from '../../../src/storage/sessions/pooled-session';
import { type BatchRig, batchOf, createBatchRig } from '../../support/batch-rig';
import { anUpsert, aRef } from '../../support/builders';
import { type Service, startService } from '../../support/service';

let rig: BatchRig;
beforeAll(async () => {
  rig = await createBatchRig();
});
afterAll(() => rig.close());

const matters = (at: { db: BatchRig['db'] }) => matterModel(at.db);
const assign = (...usernames: string[]) =>
  anUpsert({ title: 'x', parties: usernames.map((username) => aRef(username)) });

/** As docs/portal.md has it: names the revision that it read, raises it by one, sets updatedAt. */
async function markRead(at: { db: BatchRig['db'] }, externalId: string, username: string) {
  for (;;) {
    const read = await matters(at).findOne({ externalId }, { revision: 1, parties: 1 }).lean();
    if (!read?.parties.some((party) => party.username === username)) return;
    const { modifiedCount } = await matters(at).updateOne(
      { _id: read._id, revision: read.revision },
      { $set: { 'parties.$[mine].unread': false, updatedAt: new Date() }, $inc: { revision: 1 } },
      { arrayFilters: [{ 'mine.username': username }] },
    );
    if (modifiedCount === 1) return;
  }
}

/** In one step: where the update itself finds its place, what it read cannot be old. */
const markReadAtOnce = (at: { db: BatchRig['db'] }, externalId: string, username: string) =>
  matters(at).updateOne(
    { externalId, 'parties.username': username },
    { $set: { 'parties.$[mine].unread': false, updatedAt: new Date() }, $inc: { revision: 1 } },
    { arrayFilters: [{ 'mine.username': username }] },
  );

const READERS_OF_ONE = [
  ['a reader by the contract', markRead],
  ['a reader in one step', markReadAtOnce],
] as const;

test.each(READERS_OF_ONE)(
  '%s marks every role of a user, and is done where there is none',
  async (name, mark) => {
    const externalId = `${name}, roles`;
    const roles = (['ASSIGNEE', 'CC'] as const).map((partyRole) => ({
      username: 'alice',
      partyRole,
    }));
    const both = { ...assign('bob'), parties: roles } as Operation;
    await rig.newWorker()(batchOf([await rig.queued(externalId, both)]));
    await mark(rig, externalId, 'alice');
    await mark(rig, externalId, 'gone');
    await mark(rig, 'deleted meanwhile', 'alice');
    expect(await matters(rig).findOne({ externalId }).lean()).toMatchObject({
      revision: 2,
      parties: [{ unread: false }, { unread: false }],
    });
  },
);

test.each(READERS_OF_ONE)(
  'a push that met %s reads again, and keeps the read state',
  async (name, mark) => {
    await rig.newWorker()(batchOf([await rig.queued(name, assign('alice'))]));
    const push = await rig.queued(name, assign('alice', 'bob'));
    const [reply] = await rig.newWorker(() => mark(rig, name, 'alice'))(batchOf([push]));
    expect(reply?.settlement).toMatchObject({ state: 'PERSISTED', outcome: 'UPDATED' });
    expect(await matters(rig).findOne({ externalId: name }).lean()).toMatchObject({
      revision: 3,
      parties: [
        { username: 'alice', unread: false },
        { username: 'bob', unread: true },
      ],
    });
  },
);

test('a draft that its initiator deleted meanwhile is not written back', async () => {
  await rig.newWorker()(batchOf([await rig.queued('DRAFT', assign('alice'))]));
  const push = await rig.queued('DRAFT', {
    op: 'status',
    bizStatus: 'DONE',
    resetAssigneeUnread: false,
  });
  const remove = () => matters(rig).deleteOne({ externalId: 'DRAFT', revision: 1 });
  const [reply] = await rig.newWorker(remove)(batchOf([push]));
  expect(reply?.settlement).toMatchObject({ state: 'REFUSED', reason: 'MATTER_NOT_FOUND' });
  expect(await matters(rig).countDocuments({ externalId: 'DRAFT' })).toBe(0);
});

test('a guarded update names the key, so that a cluster sharded on it asks one shard', async () => {
  await rig.newWorker()(batchOf([await rig.queued('SHARD', assign('alice'))]));
  const { host, port, name } = rig.db;
  const url = `mongodb://${host}:${port}/${name}?directConnection=true`;
  const watched = await connectMongo(url, undefined, true);
  const ledger = createLedger(watched);
  const updates: unknown[] = [];
  watched.getClient().on('commandStarted', ({ command }: mongo.CommandStartedEvent) => {
    if (command.update === 'matters') updates.push(...command.updates);
  });
  const [before] = await ledger.load([{ systemCode: 'TEST', externalId: 'SHARD' }]);
  if (!before) throw new Error('not stored');
  const after = { ...before, title: 'new', revision: 2 };
  await watched
    .getClient()
    .withSession((session) =>
      inTransaction(session, (session) => ledger.write([{ before, after }], session)),
    );
  await watched.close();
  const q = { _id: before.matterId, revision: 1, systemCode: 'TEST', externalId: 'SHARD' };
  expect(updates).toMatchObject([{ q }]);
  expect(Object.keys((updates[0] as { q: object }).q)).toHaveLength(4);
});

test('what a batch writes names the key of each matter, and each entry by its id', async () => {
  const draft = await rig.queued('PROFILED', assign('alice'));
  const again = await rig.queued('PROFILED', assign('alice', 'bob'));
  const unknown = await rig.queued('PROFILED, none', {
    op: 'status',
    bizStatus: 'DONE',
    resetAssigneeUnread: false,
  });
  await rig.db.db?.command({ profile: 2 });
  await rig.newWorker()(batchOf([draft, unknown]));
  // The second one meets a change of somebody else, so that it is written anew.
  await rig.newWorker(() => markRead(rig, 'PROFILED', 'alice'))(batchOf([again]));
  await rig.db.db?.command({ profile: 0 });
  const filtersOf = async (collection: string, writer: object) => {
    const of = { ns: `${rig.db.name}.${collection}`, op: { $in: ['update', 'remove'] }, ...writer };
    const seen = await rig.db.collection('system.profile').find(of).toArray();
    return seen.map(({ command }) => command.q);
  };
  // The reader's own write has no list of filters for arrays in a batch's.
  const guarded = await filtersOf('matters', { 'command.arrayFilters': { $exists: false } });
  expect(guarded.length).toBeGreaterThan(0);
  for (const q of guarded) expect(q).toMatchObject({ systemCode: 'TEST', externalId: 'PROFILED' });
  const settled = await filtersOf('push_log', {});
  const ids = settled.map(({ _id }) => String(_id));
  expect(new Set(ids)).toEqual(new Set([draft.id, again.id, unknown.id]));
});

describe('under load', () => {
  const MATTERS = ['A', 'B', 'C', 'D'];
  const READERS = ['alice', 'bob', 'carol'];
  const PUSHES = 15;
  let service: Service;
  beforeAll(async () => {
    service = await startService({ workers: 2 });
  });
  afterAll(() => service.stop());

  test('readers and pushes at the same matters: nothing of either is lost', async () => {
    const push = async (externalId: string, more: object) => {
      const body = { matterType: 'TODO', externalId, title: 'x', ...more };
      for (;;) {
        const answer = await service.push('upsert', body);
        if (answer.code === 0) return;
        expect(answer).toMatchObject({ code: 503, retryable: true });
      }
    };
    const parties = READERS.map((username) => ({ username, partyRole: 'ASSIGNEE' }));
    await Promise.all(MATTERS.map((id) => push(id, { parties })));
    let writes = 0;
    const reading = MATTERS.flatMap((id) =>
      READERS.map(async (username) => {
        for (let n = 0; n < PUSHES; n += 1) {
          await markRead(service, id, username);
          writes += 1;
        }
      }),
    );
    // Each of them writes the list of parties: their order is another one every time.
    const pushing = MATTERS.map(async (id) => {
      for (let n = 0; n < PUSHES; n += 1) {
        const sent = [...parties, { username: 'dave', partyRole: n % 2 ? 'CC' : 'RECIPIENT' }];
        await push(id, { title: `t${n}`, replaceParties: true, parties: sent });
      }
    });
    await Promise.all([...reading, ...pushing]);
    const stored = await matters(service)
      .find({ externalId: { $in: MATTERS } })
      .lean();
    expect(stored).toHaveLength(MATTERS.length);
    for (const { parties: found, title } of stored) {
      expect(title).toBe(`t${PUSHES - 1}`);
      const unread = found.filter((party) => READERS.includes(party.username) && party.unread);
      expect(unread).toEqual([]);
    }
    const revisions = stored.reduce((sum, { revision }) => sum + revision, 0);
    expect(revisions).toBe(writes + MATTERS.length * (1 + PUSHES));
  });
});
