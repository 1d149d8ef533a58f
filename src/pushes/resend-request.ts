/**
 * The request `push-logs/resend`: a client sends its own logged pushes again (contract 7.5). `submit` processes these
 * pushes like the lines of a batch.
 */
import { Types } from 'mongoose';
import { type Caller, checkMayPush } from '../auth/authenticate';
import type { Reach } from '../concurrency/reach';
import type { Clock } from '../concurrency/timing';
import { PushError } from '../protocol/errors';
import type { FieldValue } from '../protocol/resend';
import {
  type LogEntry,
  type LogLookups,
  latestAttempts,
  type MendingEntry,
  positionOf,
} from '../storage/push-log';
import type { Admit } from './admission';
import { newPush, type Push, rejectRecorded } from './apply';
import { databaseCall } from './availability';
import { resendFingerprint } from './idempotency';
import type { PushFinalizer } from './lost-replies';
import type { PushRequest, PushResult } from './push';
import type { CheckBodies } from './read-batch';
import { readPushes } from './read-pushes';
import { linesOf, type RequestedPush, type ResentLine } from './resend-lines';
import { type PlanDependencies, planResend } from './resend-plan';
import { checkWithValues } from './resend-values';
import type { Submit } from './submit';
import { resultOrPushError } from './validate';

export interface ClientResendDependencies extends PlanDependencies {
  readonly lookups: LogLookups;
  readonly checkBodies: CheckBodies;
  readonly database: Reach;
  readonly admit: Admit;
  readonly submit: Submit;
  readonly finalizer: PushFinalizer;
  readonly clock: Clock;
  readonly newLineIds: (batchId: string, count: number) => readonly string[];
  /** BATCH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  /** BODY_LIMIT: maximum bytes of one body. */
  readonly maxBodyBytes: number;
  /** BATCH_BODY_LIMIT: maximum bytes of all resent bodies together. */
  readonly maxBytes: number;
}

export interface ResendAnswer {
  /** One line per request id, in the order of the request. */
  readonly lines: readonly ResentLine[];
  /** Empty in a dry run. */
  readonly sent: readonly PushResult[];
}

/**
 * @param parse reads the body of the request
 * @throws PushError only in a dry run; otherwise, `ResendAnswer.sent` contains the error
 */
export type ClientResend = (request: PushRequest, parse: () => ResendBody) => Promise<ResendAnswer>;

export interface ResendBody {
  readonly requestIds: readonly string[];
  readonly dryRun?: boolean | undefined;
  /** Values for invalid fields. */
  readonly set?: readonly FieldValue[] | undefined;
}

export function createClientResend(deps: ClientResendDependencies): ClientResend {
  const { database, timeout } = deps;
  return async (request, parse) => {
    const body = resultOrPushError(parse);
    const { requestIds, set } =
      body instanceof PushError ? { requestIds: [], set: undefined } : body;
    const read = (left: number) =>
      databaseCall(database.guard(planRequest(deps, request.caller, requestIds, set)), left);
    if (!(body instanceof PushError) && body.dryRun) {
      const rate = await deps.admit(request, timeout);
      checkMayPush(request.caller);
      request.onAdmitted(rate);
      return { lines: linesOf(requestIds, await read(timeout)), sent: [] };
    }
    let plan: readonly RequestedPush[] = [];
    // `submit` counts these placeholders before the plan exists.
    const readLines = () => {
      if (body instanceof PushError) throw body;
      return requestIds.map((_, index) => ({ number: index + 1, bytes: NO_BYTES }));
    };
    const sent = await deps.submit(
      { ...request, readLines },
      {
        read: async (readDeps, _request, lines, times) => {
          if (lines instanceof PushError) return readPushes(readDeps, request, lines, times);
          plan = await read(times.left);
          return pushesOf(deps, request, plan);
        },
        recheck: (pushes, left) => recheck(deps, request, pushes, left),
      },
    );
    return { lines: linesOf(requestIds, plan, sent), sent };
  };
}

/**
 * Rejects a push if a conflicting push (same matter or idempotency key) was recorded after `planRequest`. Must run
 * after the pushes are recorded, because concurrent resends must find each other.
 */
async function recheck(
  deps: ClientResendDependencies,
  { requestId, caller }: PushRequest,
  pushes: readonly Push[],
  left: number,
): Promise<void> {
  const valid = pushes.filter((push) => push.valid && !push.answer);
  const entries = valid.map(({ entry }) => entry);
  const find = deps.findMended(caller.systemCode, entries, requestId);
  const found = await databaseCall(deps.database.guard(find), left).catch(asPushError);
  await Promise.all(
    valid.map(async (push) => {
      const later = found instanceof PushError ? undefined : found.get(push.requestId);
      const answer = found instanceof PushError ? found : later && overtakenBy(later, push.entry);
      if (answer) await rejectRecorded(deps, push, answer);
    }),
  );
}

/**
 * A successful resend of the same push is no conflict, because the worker repeats the outcome of this resend.
 *
 * @returns undefined if `later` is no conflict for `entry`
 */
function overtakenBy(later: MendingEntry, entry: LogEntry): PushError | undefined {
  if (later.state === 'QUEUED') return new PushError('STILL_QUEUED');
  return positionOf(later) === positionOf(entry) ? undefined : new PushError('RESOLVED_SINCE');
}

function asPushError(error: unknown): PushError {
  if (error instanceof PushError) return error;
  throw error;
}

const NO_BYTES = Buffer.alloc(0);

async function planRequest(
  deps: ClientResendDependencies,
  caller: Caller,
  requestIds: readonly string[],
  set: readonly FieldValue[] = [],
): Promise<readonly RequestedPush[]> {
  const { lookups, checkBodies, maxBodyBytes, maxBytes } = deps;
  const named = await findNamed(lookups, caller, requestIds);
  const entries = [...named.keys()].sort((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1));
  const attempts = new Map([...named].map(([entry, { attempt }]) => [entry, attempt]));
  const rules = { allowed: ['A_RESEND', 'ONLY_ANSWERED'], maxBytes, attempts } as const;
  const plan = await planResend(deps, entries, rules);
  const toSend = plan.flatMap((planned) => (planned.kind === 'push' ? [planned.push] : []));
  const effects = plan.flatMap((planned) => (planned.kind === 'skipped' ? (planned.by ?? []) : []));
  const [checked, found] = await Promise.all([
    checkWithValues(checkBodies, toSend, { values: set, maxBodyBytes, maxBytes }),
    lookups.entries(caller.clientId, effects),
  ]);
  const checks = checked.values();
  return plan.map((planned, index): RequestedPush => {
    const { lines = [] } = named.get(entries[index] as LogEntry) ?? {};
    if (planned.kind === 'push') return { planned, lines, ...checks.next().value };
    return { planned, lines, effect: found.find(({ _id }) => String(_id) === planned.by) };
  });
}

/** The requested attempts of one push. */
interface Named {
  /** The place of each attempt in the resend request, from 1. */
  readonly lines: readonly number[];
  /** The latest requested attempt. */
  readonly attempt: LogEntry;
}

async function findNamed(
  lookups: LogLookups,
  { clientId, systemCode }: Caller,
  requestIds: readonly string[],
): Promise<ReadonlyMap<LogEntry, Named>> {
  const found = await lookups.entries(clientId, requestIds);
  const firstIds = found.flatMap(({ resentFrom }) => (resentFrom ? [String(resentFrom)] : []));
  const all = [...found, ...(await lookups.entries(clientId, firstIds))];
  const byId = new Map(all.map((entry) => [String(entry._id), entry]));
  // `firstOf` contains the oldest found entry of each original push.
  const newestFirst = [...byId].sort(([a], [b]) => (a < b ? 1 : -1));
  const firstOf = new Map(newestFirst.map(([, entry]) => [positionOf(entry), entry]));
  const latestOf = latestAttempts([...firstOf.values()].reverse());
  const named = new Map<LogEntry, Named>();
  for (const [index, id] of requestIds.entries()) {
    const entry = byId.get(id);
    const first = entry && firstOf.get(positionOf(entry));
    const push = first && latestOf(first);
    if (!push || push.systemCode !== systemCode) continue;
    const { lines = [], attempt = entry } = named.get(push) ?? {};
    const isLater = String(entry._id) > String(attempt._id);
    named.set(push, { lines: [...lines, index + 1], attempt: isLater ? entry : attempt });
  }
  return named;
}

function pushesOf(
  { newLineIds, timeout }: ClientResendDependencies,
  { requestId: batchId, caller, receivedAt, logged }: PushRequest,
  plan: readonly RequestedPush[],
): Push[] {
  const ids = newLineIds(batchId, plan.length);
  return plan.flatMap(({ planned, checked, lines: [line = 0] }, index) => {
    if (planned.kind === 'skipped' || !checked) return [];
    const { entry, body, digest } = planned.push;
    const { operation, externalId, idempotencyKey } = entry;
    const resentFrom = new Types.ObjectId(positionOf(entry));
    const batch = { batchId: new Types.ObjectId(batchId), batchLine: line };
    const source = {
      requestId: ids[index] ?? '',
      caller,
      line,
      operation,
      idempotencyKey,
      rawBody: body,
      digest,
      receivedAt,
      logged: { ...logged, ...batch, resentFrom },
    };
    // All resends of a push must have the same fingerprint, even if `ResendBody.set` differs.
    const fingerprintOf = () => resendFingerprint(entry);
    return newPush(source, { checked, operation, externalId, fingerprintOf }, timeout);
  });
}
