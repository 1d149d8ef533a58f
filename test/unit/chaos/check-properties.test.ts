/**
 * The checker of chaos runs, with runs that nobody thought of: an honest service is never accused,
 * and whatever single thing is spoiled in what it leaves is found.
 */
import fc from 'fast-check';
import { Types } from 'mongoose';
import type { Matter } from '../../../src/domain/matter';
import type { LogEntry } from '../../../src/storage/push-log/entry';
import { check } from '../../../tools/chaos/check/check';
import type { Evidence } from '../../../tools/chaos/check/evidence';
import type { AnsweredAttempt } from '../../../tools/chaos/history';
import { aRun, idOf, type Sent, type Try } from '../../support/chaos-evidence';
import { withAnswer, withEntry, withMatters, withoutEntry } from '../../support/chaos-spoil';
import type { Body } from '../../support/push-bodies';

/** What may become of a try, the usual more often. */
const fates: fc.Arbitrary<Try> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Try[]>(
      { end: 'lost' },
      { end: 'lost', fate: 'unseen' },
      { end: 'refused', fate: 'unseen' },
      { end: 'CONFIRMATION_TIMEOUT' },
      { fate: 'expired', end: 'CONFIRMATION_TIMEOUT' },
      { fate: 'expired', end: 'QUEUE_UNAVAILABLE' },
      { fate: 'QUEUE_UNAVAILABLE' },
      { fate: 'unseen', end: 'BACKLOG_FULL' },
    ),
  },
);

const few = {
  parties: [
    { username: 'li', partyRole: 'ASSIGNEE' },
    { username: 'wang', partyRole: 'CC' },
  ],
  removeParties: [{ username: 'li' }, { username: 'wang', partyRole: 'CC' }],
};
/** The list is replaced, or parties are removed from it. */
const partyChanges: fc.Arbitrary<Body> = fc.oneof(
  fc.record({ replaceParties: fc.constant(true), parties: fc.subarray(few.parties) }),
  fc.record({ removeParties: fc.subarray(few.removeParties) }),
);

const others: fc.Arbitrary<Body> = fc.record(
  {
    externalId: fc.constantFrom('A-1', 'A-1', 'A-2'),
    bizStatus: fc.constantFrom('PENDING', 'DONE'),
    sourceUpdatedAt: fc.integer({ min: 1_700_000_001, max: 1_700_000_006 }),
    externalStatusLabel: fc.constantFrom('a', 'b'),
    title: fc.constantFrom('one', 'two'),
  },
  { requiredKeys: ['externalId'] },
);
const bodies = fc
  .tuple(others, partyChanges)
  .map(([other, change]): Body => ({ ...other, ...change }));

const steps = fc.array(
  fc.record({
    name: fc.constantFrom('upsert', 'upsert', 'status', 'reopen', 'delete'),
    body: bodies,
    isKeyed: fc.boolean(),
    /** Which operation so far is tried again, if any. */
    retryOf: fc.option(fc.nat(5), { freq: 2 }),
    how: fates,
    early: fc.nat(40),
    late: fc.integer({ min: 1, max: 40 }),
  }),
  { minLength: 1, maxLength: 24 },
);
type Steps = typeof steps extends fc.Arbitrary<infer T> ? T : never;

/** Pushes overlap at random; each is decided at an instant of its own between sending and answer. */
function carryOut(plan: Steps): Evidence {
  const run = aRun();
  const sent: Sent[] = [];
  plan.forEach(({ name, body, isKeyed, retryOf, how, early, late }, index) => {
    const instant = 100 + index * 10;
    const timed: Try = { ...how, at: [instant - early, instant + late] };
    const first = retryOf === null ? undefined : sent.at(-1 - retryOf);
    if (first) run.retry(first, timed);
    else sent.push(run.push(name, body, { ...timed, ...(isKeyed && { key: `key ${index}` }) }));
  });
  return run.evidence();
}

const runs = steps.map(carryOut);
const requestIdOf = ({ _id }: LogEntry) => String(_id);

/** The entries of pushes whose callers were told something definite. */
function toldEntries({
  entries,
  history,
}: Evidence): (LogEntry & { readonly end: AnsweredAttempt })[] {
  const answers = new Map<string, AnsweredAttempt>();
  for (const { end } of history.attempts) {
    if (end.kind === 'answered' && end.code < 500) answers.set(end.requestId, end);
  }
  return entries.flatMap((entry) => {
    const end = answers.get(requestIdOf(entry));
    return end ? [{ ...entry, end }] : [];
  });
}

/** @param spoil gives the evidence with one thing spoiled; undefined where there is nothing to spoil */
function isFound(spoil: (evidence: Evidence, pick: number) => Evidence | undefined): void {
  fc.assert(
    fc.property(runs, fc.nat(100), (evidence, pick) => {
      const spoiled = spoil(evidence, pick);
      fc.pre(spoiled !== undefined);
      expect(check(spoiled)).not.toEqual([]);
    }),
    { numRuns: 30, maxSkipsPerRun: 50 },
  );
}

const pickOf = <T>(from: readonly T[], pick: number): T | undefined => from[pick % from.length];

test('an honest service is never accused', () => {
  fc.assert(
    fc.property(runs, (evidence) => {
      expect(check(evidence)).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

test('an entry that is missing is found', () => {
  isFound((evidence, pick) => {
    const due = evidence.entries.filter(({ revision }) => revision !== undefined);
    const entry = pickOf([...toldEntries(evidence), ...due], pick);
    // The last effect of a lost push is missed in the ledger.
    return entry && withoutEntry(evidence, { requestId: requestIdOf(entry) });
  });
});

test('revisions of pushes in the order of real time that are swapped are found', () => {
  isFound((evidence, pick) => {
    const sentAt = new Map(
      evidence.history.attempts.map(({ end, ...times }) => [
        end.kind === 'answered' ? end.requestId : '',
        times,
      ]),
    );
    const effects = toldEntries(evidence).filter(({ revision }) => revision !== undefined);
    const pairs = effects.flatMap((a) =>
      effects.flatMap((b) => {
        const [before, after] = [sentAt.get(requestIdOf(a)), sentAt.get(requestIdOf(b))];
        const isOrdered = before && after && before.endedAt < after.sentAt;
        return isOrdered && a.externalId === b.externalId ? [[a, b] as const] : [];
      }),
    );
    const [a, b] = pickOf(pairs, pick) ?? [];
    if (!a || !b) return undefined;
    const once = withEntry(evidence, { requestId: requestIdOf(a) }, { revision: b.revision });
    return withEntry(once, { requestId: requestIdOf(b) }, { revision: a.revision });
  });
});

test.each([
  ['in the log', false],
  ['of an effect, in the log and in the answer', true],
])('an outcome that is changed %s is found', (_where, isEffect) => {
  isFound((evidence, pick) => {
    const accepted = toldEntries(evidence).filter(
      ({ end, revision }) => end.code === 0 && (!isEffect || revision !== undefined),
    );
    const entry = pickOf(accepted, pick);
    if (!entry) return undefined;
    const requestId = requestIdOf(entry);
    const others = ['CREATED', 'UPDATED', 'REVIVED', 'DELETED'].filter((it) => it !== entry.result);
    const result = pickOf(others, pick) ?? '';
    const spoiled = withEntry(evidence, { requestId }, { result });
    return isEffect ? withAnswer(spoiled, { requestId }, { outcome: result }) : spoiled;
  });
});

test('a field of the final matter that is changed is found', () => {
  const changes: ((matter: Matter) => Partial<Matter>)[] = [
    ({ title }) => ({ title: `${title}!` }),
    ({ bizStatus }) => ({ bizStatus: `${bizStatus}_TOO` }),
    ({ priorityRank }) => ({ priorityRank: priorityRank + 1 }),
    ({ revision }) => ({ revision: revision - 1 }),
    ({ revision }) => ({ revision: revision + 1 }),
    ({ deleted }) => ({ deleted: !deleted }),
    ({ deletedAt }) => ({ deletedAt: deletedAt === null ? 1 : null }),
    ({ sourceUpdatedAt }) => ({ sourceUpdatedAt: (sourceUpdatedAt ?? 0) + 1 }),
    ({ matterId }) => ({ matterId: matterId + 100n }),
    ({ pastHandlers }) => ({ pastHandlers: [...pastHandlers, 'zhao'] }),
    ({ parties }) => ({
      parties:
        parties.length > 0
          ? []
          : [{ username: 'li', partyRole: 'CC' as const, displayName: 'Li Lei', unread: true }],
    }),
  ];
  isFound((evidence, pick) => {
    const change = pickOf(changes, pick);
    return evidence.matters.length > 0 && change ? withMatters(evidence, change) : undefined;
  });
});

test('an effect that is there twice is found', () => {
  isFound((evidence, pick) => {
    const isOpen = evidence.history.attempts.some(({ end }) => end.kind === 'lost');
    const effects = evidence.entries.filter(
      // A try without a key and without an answer may well have taken effect of its own.
      ({ revision, idempotencyKey }) =>
        revision !== undefined && (!isOpen || idempotencyKey !== undefined),
    );
    const entry = pickOf(effects, pick);
    if (!entry) return undefined;
    const last = evidence.matters.find(({ externalId }) => externalId === entry.externalId);
    const revision = (last?.revision ?? 0) + 1;
    const twice = { ...entry, _id: new Types.ObjectId(idOf(9_999)), revision };
    const bumped = withMatters(evidence, (matter) => (matter === last ? { revision } : {}));
    return { ...bumped, entries: [...evidence.entries, twice] };
  });
});

test('a matter that is missing is found', () => {
  isFound((evidence, pick) => {
    const gone = pickOf(evidence.matters, pick);
    const matters = evidence.matters.filter((matter) => matter !== gone);
    return gone && { ...evidence, matters };
  });
});
