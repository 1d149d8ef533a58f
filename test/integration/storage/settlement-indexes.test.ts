/** What a settlement costs the database: pushes that take effect leave the indexes of the push log alone. */
import { entryModel } from '../../../src/storage/push-log/entry';
import { type BatchRig, batchOf, createBatchRig } from '../../support/batch-rig';
import { anUpsert } from '../../support/builders';

let rig: BatchRig;
beforeAll(async () => {
  rig = await createBatchRig();
});
afterAll(() => rig.close());

const upsert = anUpsert({ parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }] });
const keyed = (name: string) => ({ idempotencyKey: name, idempotencyFingerprint: `of ${name}` });

test('a settlement that has an effect writes no key of an index, with or without an idempotency key', async () => {
  const pushes = [
    await rig.queued('PLAIN', upsert),
    await rig.queued('KEYED', upsert, keyed('first')),
    await rig.queued('STALE', upsert),
  ];
  await rig.db.db?.command({ profile: 2 });
  await rig.newWorker()(batchOf(pushes));
  await rig.db.db?.command({ profile: 0 });
  const updates = await rig.db
    .collection('system.profile')
    .find({ op: 'update', ns: `${rig.db.name}.push_log` })
    .toArray();
  expect(updates).toHaveLength(pushes.length);
  for (const update of updates) {
    expect(update).toMatchObject({ nMatched: 1, nModified: 1, planSummary: 'IXSCAN { _id: 1 }' });
    expect([update.keysInserted ?? 0, update.keysDeleted ?? 0]).toEqual([0, 0]);
  }
});

test('a retry meets the result of a push that took effect, and of no other one', async () => {
  const first = await rig.queued('TRIED', { op: 'delete' }, keyed('tried'));
  const retry = await rig.queued('TRIED', upsert, keyed('tried'));
  const again = await rig.queued('TRIED', upsert, keyed('tried'));
  const worker = rig.newWorker();
  const states: string[] = [];
  for (const push of [first, retry, again]) {
    const [reply] = await worker(batchOf([push]));
    states.push(reply?.settlement.state ?? 'none');
  }
  expect(states).toEqual(['REFUSED', 'PERSISTED', 'REPLAYED']);
  const entries = await entryModel(rig.db).find({ externalId: 'TRIED' }).sort({ _id: 1 }).lean();
  expect(entries.map((entry) => entry.idempotencyFingerprint)).toEqual([
    ...[undefined, 'of tried', undefined],
  ]);
});
