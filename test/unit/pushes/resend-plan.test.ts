/** The plan of a resend: which logged pushes are sent again, and why the others are not. */
import fc from 'fast-check';
import { hadEffect } from '../../../src/pushes/idempotency';
import { type PlanRules, planResend } from '../../../src/pushes/resend-plan';
import type { LogEntry } from '../../../src/storage/push-log';
import { aLogEntry } from '../../support/log-entries';

const BODY = Buffer.from('{"externalId":"M"}');
let received = Date.now();
function aFailure(over: Partial<LogEntry> = {}): LogEntry {
  received += 1_000;
  const failed = { state: 'REFUSED', result: 'DATABASE_UNAVAILABLE' } as const;
  return aLogEntry({ secretId: 's1', externalId: 'M', ...failed, ...over }, received);
}
const idOf = ({ _id }: LogEntry) => String(_id);

interface Log {
  readonly resent?: ReadonlyMap<string, string>;
  /** By request id, the request id of the retry that took effect. */
  readonly retries?: ReadonlyMap<string, string>;
  readonly later?: ReadonlyMap<string, LogEntry>;
  readonly withoutBody?: readonly LogEntry[];
}

async function planOf(
  entries: readonly LogEntry[],
  { resent = new Map(), retries = new Map(), later = new Map(), withoutBody = [] }: Log = {},
  rules: PlanRules = { allowed: [] },
) {
  const gone = new Set(withoutBody.map(idOf));
  const uses = {
    firstBody: () => undefined,
    attempt: () => undefined,
    effectOf: (entry: LogEntry) => retries.get(idOf(entry)),
  };
  const deps = {
    bodies: {
      find: async (ids: readonly string[]) =>
        new Map(ids.filter((id) => !gone.has(id)).map((id) => [id, BODY])),
    },
    lookups: { resent: async () => new Map(resent), keyUses: async () => uses },
    findMended: async () => later,
  };
  const plan = await planResend(deps, entries, rules);
  return plan.map((one) => (one.kind === 'push' ? 'send' : [one.why, one.by].join(' ').trim()));
}

test.each<[string, Partial<LogEntry>]>([
  ['send', {}],
  ['send', { state: 'EXPIRED', result: 'CONFIRMATION_TIMEOUT' }],
  ['send', { result: 'UNKNOWN_USER' }],
  ['NOT_AUTHENTICATED', { result: 'SIGNATURE_MISMATCH' }],
  ['NOT_AUTHENTICATED', { result: 'SCOPE_NOT_ALLOWED' }],
  ['NOT_AUTHENTICATED', { result: 'REASON_OF_A_NEWER_VERSION' }],
  ['NOT_AUTHENTICATED', { secretId: undefined } as Partial<LogEntry>],
  ['NOT_A_PUSH', { operation: 'matters/batch' }],
  ['NOT_A_PUSH', { operation: 'push-logs/query' }],
  ['STILL_QUEUED', { state: 'QUEUED' }],
])('%s: %j', async (expected, over) => {
  expect(await planOf([aFailure(over)])).toEqual([expected]);
});

test('a push that took effect names it, be it the push itself, a resend or a retry', async () => {
  const [itself, resent, retried] = [aFailure({ state: 'PERSISTED' }), aFailure(), aFailure()];
  const log = {
    resent: new Map([[idOf(resent), 'resend']]),
    retries: new Map([[idOf(retried), 'retry']]),
  };
  expect(await planOf([itself, resent, retried], log)).toEqual([
    `TOOK_EFFECT ${idOf(itself)}`,
    'ALREADY_RESENT resend',
    'CALLER_RETRIED retry',
  ]);
});

test('of several attempts of a push without an externalId, the latest one that can be sent is sent', async () => {
  const attempt = (over: Partial<LogEntry> = {}) =>
    aFailure({ externalId: undefined, idempotencyKey: 'key', ...over } as Partial<LogEntry>);
  const three = [attempt(), attempt(), attempt()];
  expect(await planOf(three)).toEqual(['LATER_ATTEMPT', 'LATER_ATTEMPT', 'send']);
  const resent = attempt({ resentFrom: three[0]?._id });
  expect(await planOf([attempt(), resent])).toEqual(['send', 'A_RESEND']);
  const others = [{ idempotencyKey: 'b' }, { operation: 'delete' }, { clientId: 'another' }];
  for (const other of [...others, { externalId: 'M' }, { idempotencyKey: undefined }]) {
    const pair = [attempt(), attempt(other as Partial<LogEntry>)];
    expect(await planOf(pair)).toEqual(['send', 'send']);
  }
});

test('a later push of the matter resolves a failure; one that waits holds back the pushes after it', async () => {
  const [first, second] = [aFailure(), aFailure()];
  const [other, persisted] = [aFailure({ externalId: 'N' }), aFailure({ state: 'PERSISTED' })];
  const queued = aFailure({ state: 'QUEUED' });
  const resolved = new Map([[idOf(first), persisted]]);
  expect(await planOf([first, second], { later: resolved })).toEqual([
    `RESOLVED_SINCE ${idOf(persisted)}`,
    'send',
  ]);
  const pending = new Map([[idOf(first), queued]]);
  expect(await planOf([first, second, other], { later: pending })).toEqual([
    `STILL_QUEUED ${idOf(queued)}`,
    'STILL_QUEUED',
    'send',
  ]);
});

test('a resend that ended while the plan was made counts as a resend, not as a later push', async () => {
  const first = aFailure();
  const resend = aFailure({ state: 'PERSISTED', resentFrom: first._id });
  const later = new Map([[idOf(first), resend]]);
  expect(await planOf([first], { later })).toEqual([`ALREADY_RESENT ${idOf(resend)}`]);
});

test('a body that is not stored any more does not hold back other pushes', async () => {
  const [first, second] = [aFailure(), aFailure()];
  expect(await planOf([first, second], { withoutBody: [first] })).toEqual(['BODY_GONE', 'send']);
});

test('the bodies that are read have a limit together; pushes that are not sent do not count', async () => {
  const entries = [aFailure({ bodySize: 6 }), aFailure({ bodySize: 5 })];
  const rules = { allowed: [], maxBytes: 10 };
  await expect(planOf(entries, {}, rules)).rejects.toMatchObject({ reason: 'BODY_TOO_LARGE' });
  const [done, open] = [aFailure({ bodySize: 6, state: 'PERSISTED' }), aFailure({ bodySize: 5 })];
  expect(await planOf([done, open], {}, rules)).toEqual([expect.anything(), 'send']);
});

test('property: nothing that had an effect is sent, and no push goes before an earlier one that waits', async () => {
  const states = fc.constantFrom<LogEntry['state']>('QUEUED', 'PERSISTED', 'REFUSED', 'EXPIRED');
  const histories = fc.array(fc.record({ state: states, externalId: fc.constantFrom('M', 'N') }), {
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const entries = history.map((over) => aFailure(over));
      const plan = await planOf(entries);
      const waiting = new Set<string | undefined>();
      for (const [index, entry] of entries.entries()) {
        if (entry.state === 'QUEUED') waiting.add(entry.externalId);
        const isSendable = !hadEffect(entry) && !waiting.has(entry.externalId);
        expect(plan[index] === 'send').toBe(isSendable);
      }
    }),
    { numRuns: 100 },
  );
});
