/** Parties leave a matter without its list being sent again (contract 4.7). */

import { userModel } from '../../../src/storage/directory/user-model';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { todo } from '../../support/push-bodies';
import type { Answer } from '../../support/pusher';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => service.stop());

const HANDLERS = ['alice', 'bob', 'carol'];
const parties = HANDLERS.map((username) => ({ username, partyRole: 'ASSIGNEE' }));

const stored = async (externalId: string) => {
  const matter = await matterModel(service.db).findOne({ externalId }).lean();
  if (!matter) throw new Error(`no matter ${externalId}`);
  return matter;
};
const left = async (externalId: string) =>
  (await stored(externalId)).parties.map(({ username, partyRole }) => `${partyRole} ${username}`);
const changesOf = async ({ requestId }: Answer) =>
  (await entryModel(service.db).findById(requestId).lean())?.changes;

async function push(operation: string, body: object): Promise<Answer> {
  const answer = await service.push(operation, body);
  expect(answer).toMatchObject({ code: 0 });
  return answer;
}

test('one approver finishes: the others stay as they are, and the log tells who left', async () => {
  const externalId = 'LEFT';
  await push('upsert', todo(externalId, { parties }));
  const read = { $set: { 'parties.$[carol].unread': false }, $inc: { revision: 1 } };
  await matterModel(service.db).updateOne({ externalId }, read, {
    arrayFilters: [{ 'carol.username': 'carol' }],
  });
  const answer = await push('status', { externalId, removeParties: [{ username: 'alice' }] });
  expect(answer.data).toMatchObject({ outcome: 'UPDATED' });
  expect(await stored(externalId)).toMatchObject({
    parties: [
      { username: 'bob', unread: true },
      { username: 'carol', unread: false },
    ],
    pastHandlers: ['alice'],
  });
  expect(await changesOf(answer)).toEqual([{ field: 'parties', removed: ['ASSIGNEE alice'] }]);
});

test('approvers who finish at the same time do not undo each other', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `TOGETHER-${n}`);
  await Promise.all(ids.map((id) => push('upsert', todo(id, { parties }))));
  const leave = (externalId: string, username: string) =>
    push('status', { externalId, removeParties: [{ username, partyRole: 'ASSIGNEE' }] });
  await Promise.all(ids.flatMap((id) => ['alice', 'bob'].map((name) => leave(id, name))));
  for (const id of ids) {
    expect(await left(id)).toEqual(['ASSIGNEE carol']);
    expect(new Set((await stored(id)).pastHandlers)).toEqual(new Set(['alice', 'bob']));
  }
});

test('an upsert removes after it merges; the TODO is then in the list of no user', async () => {
  const externalId = 'MOVED';
  await push('upsert', todo(externalId, { parties: parties.slice(0, 2) }));
  const moved = todo(externalId, {
    parties: [{ username: 'alice', partyRole: 'CC' }],
    removeParties: [{ username: 'alice', partyRole: 'ASSIGNEE' }],
  });
  const answer = await push('upsert', moved);
  expect(answer.data.warnings).toBeUndefined();
  expect(await left(externalId)).toEqual(['ASSIGNEE bob', 'CC alice']);
  expect(await changesOf(answer)).toEqual([
    { field: 'parties', added: ['CC alice'], removed: ['ASSIGNEE alice'] },
  ]);
  const last = await push('status', { externalId, removeParties: [{ username: 'bob' }] });
  expect(last.data.warnings).toMatchObject([{ kind: 'NO_ASSIGNEE' }]);
});

test('a user who left the portal can be removed; one who is absent changes nothing', async () => {
  const externalId = 'GONE';
  await push(
    'upsert',
    todo(externalId, { parties: [...parties, { username: 'dave', partyRole: 'CC' }] }),
  );
  await userModel(service.db).deleteOne({ username: 'dave' });
  await push('upsert', todo(externalId, { removeParties: [{ username: 'dave' }] }));
  expect(await left(externalId)).toEqual(parties.map(({ username }) => `ASSIGNEE ${username}`));
  const { revision } = await stored(externalId);
  const nobody = { externalId, removeParties: [{ username: 'nobody' }, { username: 'dave' }] };
  const answer = await push('status', nobody);
  expect(answer.data).toMatchObject({ outcome: 'UPDATED' });
  expect(await changesOf(answer)).toBeUndefined();
  expect((await stored(externalId)).revision).toBe(revision);
});

test('a stale removal has no effect', async () => {
  const externalId = 'STALE';
  await push('upsert', todo(externalId, { parties, sourceUpdatedAt: 1_764_000_002 }));
  const removeParties = [{ username: 'bob' }];
  const answer = await push('status', {
    externalId,
    sourceUpdatedAt: 1_764_000_001,
    removeParties,
  });
  expect(answer.data).toMatchObject({ outcome: 'STALE_IGNORED' });
  expect(await left(externalId)).toContain('ASSIGNEE bob');
});

test.each([
  ['in both lists', { parties, removeParties: [{ username: 'bob' }] }, 'removeParties[0]'],
  [
    'with replaceParties',
    { parties: [], replaceParties: true, removeParties: [{ username: 'bob' }] },
    'removeParties',
  ],
  ['without a name', { removeParties: [{ partyRole: 'CC' }] }, 'removeParties[0].username'],
])('a removal %s is 400, and nothing changes', async (_, change, field) => {
  const externalId = `WRONG ${field}`;
  await push('upsert', todo(externalId, { parties: [{ username: 'bob', partyRole: 'CC' }] }));
  const answer = await service.push('upsert', todo(externalId, { title: 'other', ...change }));
  expect(answer).toMatchObject({ code: 400, reason: 'VALIDATION_FAILED', errors: [{ field }] });
  expect(await stored(externalId)).toMatchObject({ title: 'x', parties: [{ username: 'bob' }] });
});
