/** The checker of chaos runs: what callers were told, held against the log. */
import { check } from '../../../tools/chaos/check/check';
import type { Evidence } from '../../../tools/chaos/check/evidence';
import { anHonestRun, aRun, idOf, type Sent } from '../../support/chaos-evidence';
import { brokenRules, withAnswer, withEntry, withoutEntry } from '../../support/chaos-spoil';

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

const QUEUE_WAS_AWAY = {
  state: 'REFUSED',
  result: 'QUEUE_UNAVAILABLE',
  startedAt: undefined,
} as const;

const told = (reason: string, code: number) => ({ status: code, code, reason });

test.each<[string, Step, Spoil]>([
  ['404 without an entry', 'missing', withoutEntry],
  ['400 without an entry', 'invalid', withoutEntry],
  ['404 for another reason', 'missing', (e, p) => withAnswer(e, p, told('MATTER_DELETED', 404))],
  [
    '429 for what was rejected otherwise',
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
    '504 for what a web process rejected',
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

test('one request id in two answers is found, though both tell the truth about it', () => {
  const { run, keyed, replayed } = anHonestRun();
  const same = { requestId: keyed.requestId, replayed: false };
  expect(check(withAnswer(run.evidence(), replayed, same))).toContainEqual(
    expect.objectContaining({ rule: 'answer-agrees', requestId: keyed.requestId }),
  );
});

test('an answer with the id of another push is found, though nobody else was told of it', () => {
  const run = aRun();
  const lost = run.push('upsert', {}, { end: 'lost', fate: 'expired' });
  const shed = run.push('upsert', {}, { end: 'BACKLOG_FULL', fate: 'unseen' });
  const evidence = withAnswer(run.evidence(), shed, { requestId: lost.requestId });
  expect(brokenRules(evidence)).toEqual(['answer-agrees']);
});

test.each<[string, Step, Spoil]>([
  [
    '504 for a push that was begun in time',
    'known',
    (e, p) => withAnswer(e, p, told('CONFIRMATION_TIMEOUT', 504)),
  ],
  [
    '504 for one that the state rejected',
    'rejected',
    (e, p) => withAnswer(e, p, told('CONFIRMATION_TIMEOUT', 504)),
  ],
  [
    '504 for one that its web process finalized, where the answer of the log came too late',
    'expired',
    (e, p) => withEntry(e, p, QUEUE_WAS_AWAY),
  ],
  [
    '503 for one that expired',
    'expired',
    (e, p) => withAnswer(e, p, told('QUEUE_UNAVAILABLE', 503)),
  ],
  [
    '503 for one that was rejected',
    'rejected',
    (e, p) => withAnswer(e, p, told('DATABASE_UNAVAILABLE', 503)),
  ],
])('what is legal is no violation: %s', (_what, step, spoil) => {
  const made = anHonestRun();
  expect(check(spoil(made.run.evidence(), made[step]))).toEqual([]);
});

test.each<[string, Step, Spoil]>([
  ['429, though nobody has a rate', 'shed', (e, p) => withAnswer(e, p, told('RATE_LIMITED', 429))],
  ['401', 'shed', (e, p) => withAnswer(e, p, told('SIGNATURE_MISMATCH', 401))],
  ['401 by its own body', 'away', (e, p) => withAnswer(e, p, told('SIGNATURE_REUSED', 401))],
  ['403', 'shed', (e, p) => withAnswer(e, p, told('CLIENT_DISABLED', 403))],
  ['404 of the path', 'shed', (e, p) => withAnswer(e, p, told('PATH_NOT_FOUND', 404))],
  ['408', 'shed', (e, p) => withAnswer(e, p, told('REQUEST_TIMEOUT', 408))],
  ['413', 'shed', (e, p) => withAnswer(e, p, told('BODY_TOO_LARGE', 413))],
  ['500', 'shed', (e, p) => withAnswer(e, p, told('INTERNAL_ERROR', 500))],
  ['500 for good', 'shed', (e, p) => withAnswer(e, p, told('OPERATION_FAILED', 500))],
  ['400 of the head', 'shed', (e, p) => withAnswer(e, p, told('MALFORMED_REQUEST', 400))],
  ['400 of a whole body', 'shed', (e, p) => withAnswer(e, p, told('BODY_INCOMPLETE', 400))],
  [
    '400 for users that are known',
    'missing',
    (e, p) => withEntry(withAnswer(e, p, told('UNKNOWN_USER', 400)), p, { result: 'UNKNOWN_USER' }),
  ],
  [
    '400 for a body that passes',
    'missing',
    (e, p) =>
      withEntry(withAnswer(e, p, told('VALIDATION_FAILED', 400)), p, {
        result: 'VALIDATION_FAILED',
      }),
  ],
  [
    'another rejection of a body that does not pass',
    'invalid',
    (e, p) => withEntry(withAnswer(e, p, told('INVALID_JSON', 400)), p, { result: 'INVALID_JSON' }),
  ],
])('rejecting a good request is found, also where the log agrees: %s', (_what, step, spoil) => {
  const made = anHonestRun();
  expect(brokenRules(spoil(made.run.evidence(), made[step]))).toEqual(['wrongly-rejected']);
});

test('a body that does not pass and is accepted is found', () => {
  const { run, invalid } = anHonestRun();
  const accepted = { status: 200, code: 0, reason: undefined };
  expect(brokenRules(withAnswer(run.evidence(), invalid, accepted))).toContain('wrongly-rejected');
});

test.each<[string, Step, number]>([
  ['an acceptance', 'created', 202],
  ['a rejection', 'missing', 200],
])('%s under another HTTP status is found', (_what, step, status) => {
  const made = anHonestRun();
  const evidence = withAnswer(made.run.evidence(), made[step], { status });
  expect(brokenRules(evidence)).toEqual(['answer-agrees']);
});
