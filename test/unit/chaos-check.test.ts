/** The checker of chaos runs: answers, senders and effects, held against the log and the ledger. */
import { Types } from 'mongoose';
import { check } from '../../chaos/check/check';
import type { Evidence } from '../../chaos/check/evidence';
import { PROMISES } from '../../chaos/check/rules';
import {
  aRun,
  brokenRules,
  idOf,
  type Sent,
  withAnswer,
  withEntry,
  withMatters,
  withoutEntry,
} from '../support/chaos-evidence';

/** A matter's life, with everything that may become of a push. */
function anHonestRun() {
  const run = aRun();
  const created = run.push('upsert', { parties: [{ username: 'li', partyRole: 'ASSIGNEE' }] });
  const keyed = run.push(
    'status',
    { bizStatus: 'DONE', sourceUpdatedAt: 1_700_000_005 },
    { key: 'k' },
  );
  const replayed = run.retry(keyed);
  const stale = run.push('reopen', { sourceUpdatedAt: 1_700_000_001 });
  const deleted = run.push('delete');
  const again = run.push('delete');
  const refused = run.push('status', { bizStatus: 'DONE' });
  const missing = run.push('status', { externalId: 'A-2' });
  const expired = run.push('upsert', {}, { fate: 'expired' });
  const shed = run.push('upsert', {}, { fate: 'unseen', end: 'BACKLOG_FULL' });
  const limited = run.push('upsert', {}, { fate: 'unseen', end: 'RATE_LIMITED' });
  const invalid = run.push('upsert', { title: ' ' });
  const notice = run.push('upsert', { matterType: 'NOTICE', externalId: undefined });
  const revived = run.push('upsert', { externalId: 'A-1' }, { end: 'lost', key: 'r' });
  const known = run.retry(revived);
  const about = { created, keyed, replayed, stale, deleted, again, refused, missing, expired };
  return { run, ...about, shed, limited, invalid, notice, revived, known };
}

test('a run that keeps every promise has no violation', () => {
  expect(check(anHonestRun().run.evidence())).toEqual([]);
  expect(check(aRun().evidence())).toEqual([]);
});

type Step = Exclude<keyof ReturnType<typeof anHonestRun>, 'run'>;
type Spoil = (evidence: Evidence, push: Sent) => Evidence;

test.each<[string, string[], Step, Spoil]>([
  ['no entry', ['acknowledged'], 'again', withoutEntry],
  [
    'another outcome',
    ['acknowledged'],
    'stale',
    (e, p) => withAnswer(e, p, { outcome: 'UPDATED' }),
  ],
  ['another matter', ['acknowledged'], 'again', (e, p) => withAnswer(e, p, { matterId: '9' })],
  ['another id', ['acknowledged'], 'again', (e, p) => withAnswer(e, p, { externalId: 'B' })],
  [
    'replayed, in truth applied',
    ['acknowledged'],
    'again',
    (e, p) => withAnswer(e, p, { replayed: true }),
  ],
  [
    'applied, in truth replayed',
    ['acknowledged'],
    'replayed',
    (e, p) => withAnswer(e, p, { replayed: false }),
  ],
  [
    'an expired entry',
    ['acknowledged'],
    'again',
    (e, p) => withEntry(e, p, { state: 'EXPIRED', result: 'CONFIRMATION_TIMEOUT' }),
  ],
])('acknowledged with %s is found', (_what, rules, step, spoil) => {
  const made = anHonestRun();
  expect(brokenRules(spoil(made.run.evidence(), made[step]))).toEqual(rules);
});

const told = (reason: string, code: number) => ({ status: code, code, reason });

test.each<[string, Step, Spoil]>([
  ['404 without an entry', 'missing', withoutEntry],
  ['400 without an entry', 'invalid', withoutEntry],
  ['404 for another reason', 'missing', (e, p) => withAnswer(e, p, told('MATTER_DELETED', 404))],
  [
    '429 for what was refused otherwise',
    'missing',
    (e, p) => withAnswer(e, p, told('RATE_LIMITED', 429)),
  ],
  ['429 for an expired push', 'expired', (e, p) => withAnswer(e, p, told('RATE_LIMITED', 429))],
  [
    '503 for a push that took effect',
    'created',
    (e, p) => withAnswer(e, p, told('QUEUE_UNAVAILABLE', 503)),
  ],
  [
    '500 for a push that was replayed',
    'replayed',
    (e, p) => withAnswer(e, p, told('INTERNAL_ERROR', 500)),
  ],
  ['504 without an entry', 'expired', withoutEntry],
  [
    '504 for what an ingress refused',
    'expired',
    (e, p) => withEntry(e, p, { state: 'REFUSED', result: 'BACKLOG_FULL', startedAt: undefined }),
  ],
  ['a code that does not exist', 'shed', (e, p) => withAnswer(e, p, told('TEAPOT', 418))],
  [
    'the id of another push',
    'shed',
    (e) => withAnswer(e, { requestId: idOf(10) }, { requestId: idOf(9) }),
  ],
])('an answer unlike the log is found: %s', (_what, step, spoil) => {
  const made = anHonestRun();
  expect(brokenRules(spoil(made.run.evidence(), made[step]))).toContain('answer-agrees');
});

test('one request id in two answers is found', () => {
  const { run, again, deleted } = anHonestRun();
  const evidence = withAnswer(run.evidence(), again, { requestId: deleted.requestId });
  expect(check(evidence)).toContainEqual(
    expect.objectContaining({ rule: 'answer-agrees', requestId: deleted.requestId }),
  );
});

test.each<[string, Step, Spoil]>([
  [
    '504 for a push that was begun in time',
    'known',
    (e, p) => withAnswer(e, p, told('CONFIRMATION_TIMEOUT', 504)),
  ],
  [
    '504 for one that the state refused',
    'refused',
    (e, p) => withAnswer(e, p, told('CONFIRMATION_TIMEOUT', 504)),
  ],
  [
    '503 for one that expired',
    'expired',
    (e, p) => withAnswer(e, p, told('QUEUE_UNAVAILABLE', 503)),
  ],
  [
    '503 for one that was refused',
    'refused',
    (e, p) => withAnswer(e, p, told('DATABASE_UNAVAILABLE', 503)),
  ],
  [
    '429 with its entry',
    'expired',
    (e, p) =>
      withEntry(withAnswer(e, p, told('RATE_LIMITED', 429)), p, {
        state: 'REFUSED',
        result: 'RATE_LIMITED',
      }),
  ],
  [
    '400 before the sender was known',
    'shed',
    (e, p) => withAnswer(e, p, told('MALFORMED_REQUEST', 400)),
  ],
])('what is legal is no violation: %s', (_what, step, spoil) => {
  const made = anHonestRun();
  expect(check(spoil(made.run.evidence(), made[step]))).toEqual([]);
});

test('an entry that nobody sent is a phantom, unless it was refused', () => {
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
  const applied = { state: 'PERSISTED', origin: undefined, result: 'STALE_IGNORED' } as const;
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
  ['that is not there', { origin: new Types.ObjectId(idOf(99)) }],
  ['of another push', { origin: new Types.ObjectId(idOf(1)) }],
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
  expect(check(aRun().evidence({ leftovers: ['lane:2:5'] }))).toMatchObject([{ rule: 'leftover' }]);
  for (const promise of Object.values(PROMISES)) expect(promise).toMatch(/^[A-Z].+\.$/);
});
