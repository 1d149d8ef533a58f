/** Whatever a signed caller sends, it is an answer in the envelope, and the books agree. */
import fc from 'fast-check';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { ENDPOINTS, PLACES } from '../../support/hostile-fields';
import { expectAlive, send } from '../../support/hostile-guard';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => service.stop());

/** Of each endpoint and kind of body: 9 x 2 x 17 are some 300 requests. */
const RUNS = 17;

/** Few enough that pushes meet on one matter. */
const ids = fc.oneof(fc.constantFrom('C-1', 'C-2', 'C-3'), fc.string({ unit: 'binary' }));
const values = fc.oneof(
  fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' }),
  fc.constantFrom('TODO', 'DONE', 'alice', '2026-01-01T00:00:00Z', 1_700_000_000, true),
  ids,
);
/** Keys that mean something somewhere. */
const names = fc.constantFrom(...PLACES.map(({ field }) => field), '__proto__', '$where', '');

/** A good body with some of its fields, or others, replaced by anything. */
const bent = (valid: object) =>
  fc
    .tuple(ids, fc.array(fc.tuple(names, values), { maxLength: 4 }))
    .map(([externalId, changes]) => {
      const more = [['externalId', externalId] as const, ...changes];
      // As text: an own `__proto__` is a key like others there.
      const text = more.map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`);
      return `${JSON.stringify({ ...valid, pad: 0 }).slice(0, -1)}${text.join('')}}`;
    });
/** Anything that is JSON, and bytes: none, any, or a good body with some of them changed. */
const raw = (valid: object) =>
  fc.oneof(
    fc.json({ stringUnit: 'binary' }),
    fc.uint8Array({ maxLength: 600 }),
    fc
      .array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 5 })
      .map((changes) => {
        const bytes = Buffer.from(JSON.stringify(valid));
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        return bytes;
      }),
  );

const KINDS = { 'bent bodies': bent, 'raw bytes': raw };
const CASES = ENDPOINTS.flatMap(({ path, valid }) =>
  Object.entries(KINDS).map(([kind, make]) => [path, kind, make(valid)] as const),
);

/** What was answered with code 0: the outcome by the matter that it was about. */
const accepted: { requestId: string; matterId: string; outcome: string }[] = [];
let pushes = 0;

test.each(CASES)('%s takes or rejects %s, and never fails', async (path, _kind, bodies) => {
  const isPush = PUSHES.has(path);
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const { code, reason, requestId, data } = await send(service, { path, body });
      expect([reason, code < 500]).toEqual([reason, true]);
      if (!isPush) return;
      pushes += 1;
      if (code === 0) accepted.push({ requestId, ...data });
    }),
    { numRuns: RUNS },
  );
  await expectAlive(service);
});

const PUSHES = new Set(ENDPOINTS.slice(0, 4).map(({ path }) => path));

test('the ledger, the log and the answers tell the same', async () => {
  const log = entryModel(service.db);
  const own = { clientId: service.clientId };
  const isQueued = () => log.exists({ ...own, state: 'QUEUED' });
  await until('every push to be settled', async () => !(await isQueued()));
  expect(await log.countDocuments(own)).toBe(pushes);
  const persisted = await log.find({ ...own, state: 'PERSISTED' }).lean();
  const logged = persisted.map(({ _id, matterId, result }) => ({
    requestId: String(_id),
    ...{ matterId: String(matterId), outcome: result },
  }));
  const told = accepted.map(({ requestId, matterId, outcome }) => ({
    requestId,
    matterId,
    outcome,
  }));
  const byId = (a: { requestId: string }, b: { requestId: string }) =>
    a.requestId.localeCompare(b.requestId);
  expect(logged.sort(byId)).toEqual(told.sort(byId));
  const stored = (await matterModel(service.db).distinct('_id')).map(String);
  const created = told.filter(({ outcome }) => outcome === 'CREATED');
  expect(stored.sort()).toEqual(created.map(({ matterId }) => matterId).sort());
  // Without any the rest would say nothing.
  expect(created.length).toBeGreaterThan(0);
  expect(pushes).toBeGreaterThan(told.length);
});
