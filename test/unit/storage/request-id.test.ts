/** Request ids are in the order of receipt, and no two are the same. */
import fc from 'fast-check';
import {
  createIdSource,
  firstIdAt,
  idAfter,
  idsOfSameOrigin,
  receivedAtOf,
} from '../../../src/storage/push-log/request-id';
import { NOW } from '../../support/builders';

const instants = fc.integer({ min: 0, max: 4_000_000_000_000 });

test('an id tells when its request was received, to the millisecond', () => {
  fc.assert(
    fc.property(instants, (at) => {
      const id = createIdSource().ofRequest(at);
      expect(id).toMatch(/^[0-9a-f]{24}$/);
      expect(receivedAtOf(id)).toBe(at);
    }),
  );
});

test('ids of different processes are in the order of receipt', () => {
  const [one, other] = [createIdSource().ofRequest, createIdSource().ofRequest];
  fc.assert(
    fc.property(instants, instants, (a, b) => {
      fc.pre(a < b);
      expect(one(a) < other(b)).toBe(true);
      expect(other(a) < one(b)).toBe(true);
    }),
  );
});

test('60,000 requests of one millisecond have 60,000 ids, also after the clock was set back', () => {
  const newId = createIdSource().ofRequest;
  const ids = new Set<string>();
  for (let n = 0; n < 20_000; n += 1) for (const at of [NOW, NOW + 1, NOW]) ids.add(newId(at));
  expect(ids.size).toBe(60_000);
});

test('a window begins with the first id of its instant', () => {
  const id = createIdSource().ofRequest(NOW);
  expect(firstIdAt(NOW) <= id && id < firstIdAt(NOW + 1)).toBe(true);
  expect(id < idAfter(id) && idAfter(id) < firstIdAt(NOW + 1)).toBe(true);
});

test('what comes after the last id that anybody can ask for is an id, too', () => {
  const last = 'f'.repeat(24);
  expect(idAfter(last)).toBe(last);
  expect(idAfter(last.replace(/f$/, 'e'))).toBe(last);
});

test('the lines of a batch have ids beside its own, also where the clock was corrected meanwhile', () => {
  let ahead = 0;
  const ids = createIdSource(() => ahead);
  const counts = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(counts, instants, (each, at) => {
      for (const count of each) {
        const batchId = ids.ofRequest(at);
        ahead = (ahead + 7) % 50;
        const lines = ids.ofLines(batchId, count);
        const [first, last] = idsOfSameOrigin(batchId);
        expect(new Set(lines).size).toBe(count);
        expect([...lines].sort()).toEqual(lines);
        expect(first <= (lines[0] ?? '') && (lines.at(-1) ?? '') <= last).toBe(true);
        expect(receivedAtOf(first)).toBe(receivedAtOf(last));
      }
    }),
    { numRuns: 20 },
  );
});
