/** The checker of chaos runs: where entries and matters come from, and that each push has one effect. */
import { Types } from 'mongoose';
import { check } from '../../../tools/chaos/check/check';
import { PROMISES } from '../../../tools/chaos/check/evidence';
import { anHonestRun, aRun, idOf } from '../../support/chaos-evidence';
import { brokenRules, withAnswer, withEntry, withMatters } from '../../support/chaos-spoil';

test('an entry that nobody sent is a phantom, unless it was rejected', () => {
  const { run, created } = anHonestRun();
  const stranger = { bodyHash: 'f'.repeat(64) };
  expect(brokenRules(withEntry(run.evidence(), created, stranger))).toContain('phantom');
  const [entry] = run.evidence().entries;
  if (!entry) throw new Error('no entry');
  const more = { ...entry, ...stranger, _id: new Types.ObjectId(), revision: undefined };
  const plus = (change: object) => {
    const { entries } = run.evidence();
    return run.evidence({ entries: [...entries, { ...more, ...change }] });
  };
  expect(brokenRules(plus({ state: 'EXPIRED' }))).toEqual(['phantom']);
  expect(brokenRules(plus({ state: 'REFUSED', result: 'SIGNATURE_MISMATCH' }))).toEqual([]);
});

test('an operation leaves no more entries than it has tries', () => {
  const run = aRun();
  const lost = run.push('upsert', {}, { end: 'lost' });
  run.retry(lost, { end: 'lost', fate: 'unseen' });
  const { entries } = run.evidence();
  const [entry] = entries;
  if (!entry) throw new Error('no entry');
  const expired = { ...entry, state: 'EXPIRED' as const, revision: undefined };
  const two = [...entries, { ...expired, _id: new Types.ObjectId(idOf(70)) }];
  expect(check(run.evidence({ entries: two }))).toEqual([]);
  const three = [...two, { ...expired, _id: new Types.ObjectId(idOf(71)) }];
  expect(brokenRules(run.evidence({ entries: three }))).toEqual(['phantom']);
});

test('a matter that no push accounts for is a phantom', () => {
  const { run } = anHonestRun();
  const [matter] = run.evidence().matters;
  if (!matter) throw new Error('no matter');
  const matters = [...run.evidence().matters, { ...matter, matterId: 77n, externalId: 'X' }];
  expect(check(run.evidence({ matters }))).toMatchObject([{ rule: 'phantom', externalId: 'X' }]);
});

test.each([
  ['systemCode', { systemCode: 'HR' }],
  ['idempotencyKey', { idempotencyKey: 'other' }],
])('an entry with another %s than was sent is found', (_field, change) => {
  const { run, again } = anHonestRun();
  expect(brokenRules(withEntry(run.evidence(), again, change))).toContain('phantom');
});

test('a retry that is applied again is found, also where it changed nothing', () => {
  const { run, keyed, replayed } = anHonestRun();
  const applied = { state: 'PERSISTED', duplicateOf: undefined, result: 'STALE_IGNORED' } as const;
  const evidence = withAnswer(withEntry(run.evidence(), replayed, applied), replayed, {
    outcome: 'STALE_IGNORED',
    replayed: false,
  });
  const [first] = check(evidence).filter(({ rule }) => rule === 'one-effect');
  expect(first).toMatchObject({ requestId: replayed.requestId });
  expect(first?.what).toContain(keyed.requestId);
});

test('without a key each try is a push of its own', () => {
  const run = aRun();
  const created = run.push('upsert');
  run.push('upsert', { title: 'between' });
  run.retry(created);
  expect(check(run.evidence())).toEqual([]);
});

test.each([
  ['that is not there', { duplicateOf: new Types.ObjectId(idOf(99)) }],
  ['of another push', { duplicateOf: new Types.ObjectId(idOf(1)) }],
  ['with another outcome', { result: 'CREATED' }],
])('a replay from an entry %s is found', (_what, change) => {
  const { run, replayed } = anHonestRun();
  expect(brokenRules(withEntry(run.evidence(), replayed, change))).toContain('one-effect');
});

test('an effect of a push that was not persisted is found', () => {
  const { run, expired } = anHonestRun();
  expect(brokenRules(withEntry(run.evidence(), expired, { revision: 5 }))).toEqual(['one-effect']);
});

test('a second matter id of a key is found, in the log and in the ledger', () => {
  const { run, again } = anHonestRun();
  const other = withEntry(run.evidence(), again, { matterId: 9n });
  expect(brokenRules(withAnswer(other, again, { matterId: '9' }))).toEqual(['one-matter-id']);
  const stored = withMatters(run.evidence(), () => ({ matterId: 9n }));
  expect(brokenRules(stored)).toEqual(['one-matter-id']);
});

test('a lost keyed push whose retry is applied is one effect', () => {
  const run = aRun();
  const lost = run.push('upsert', {}, { key: 'k', end: 'lost', fate: 'unseen' });
  run.retry(lost);
  run.retry(lost);
  expect(check(run.evidence())).toEqual([]);
});

test('what is left in the queue is a violation, and every rule says what it promises', () => {
  expect(check(aRun().evidence({ leftovers: ['partition:3:3'] }))).toMatchObject([
    { rule: 'leftover' },
  ]);
  for (const promise of Object.values(PROMISES)) expect(promise).toMatch(/^[A-Z].+\.$/);
});

test('a replay from another push that came to the same is found', () => {
  const run = aRun();
  run.push('upsert');
  const other = run.push('status', { bizStatus: 'DONE' }, { key: 'a' });
  const replayed = run.retry(run.push('status', { bizStatus: 'PENDING' }, { key: 'b' }));
  expect(check(run.evidence())).toEqual([]);
  const duplicateOf = new Types.ObjectId(other.requestId);
  expect(brokenRules(withEntry(run.evidence(), replayed, { duplicateOf }))).toEqual(['one-effect']);
});
