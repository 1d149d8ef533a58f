/**
 * An honest service for tests of the checker: it decides one push after the other, in the order in
 * which a test names them, and leaves the evidence that a run would. Tests then spoil it.
 */
import { createHash } from 'node:crypto';
import { Types } from 'mongoose';
import { decide, type Outcome } from '../../src/domain/decide';
import type { Matter } from '../../src/domain/matter';
import type { OperationName } from '../../src/domain/operation';
import { PushError, type Reason } from '../../src/protocol/errors';
import { createBodyParsers } from '../../src/protocol/requests';
import { resultOf, type Settlement } from '../../src/storage/push-log';
import type { LogEntry } from '../../src/storage/push-log/entry';
import type { Evidence } from '../../tools/chaos/check/evidence';
import {
  type AttemptEnd,
  type BatchAnswer,
  type BatchTry,
  type Fault,
  type FaultKind,
  isAccepted,
  type LinePlace,
  type PushAttempt,
} from '../../tools/chaos/history';
import { aBody, CONTRACT } from './bodies';
import { NOW } from './builders';
import type { Body } from './push-bodies';

/** One try. Without times it is sent and answered before the next one is sent. */
export interface Try {
  /** When it is sent, and when its caller knows. */
  readonly at?: readonly [number, number];
  /** What the caller sees; an answer as the service gives it, unless said otherwise. */
  readonly end?: 'lost' | 'refused' | 'hung' | Reason;
  /** What the service does: decides it, ends it at its deadline, or never gets to see it. */
  readonly fate?: 'decided' | 'expired' | 'unseen' | Reason;
}

/** A line of a batch: its operation, and what becomes of it. */
export interface SentLine extends Pick<Try, 'fate'> {
  readonly name: OperationName;
  readonly body?: Body;
  readonly key?: string;
  /** Of the line; an answer as the service gives it, unless said otherwise. */
  readonly end?: Reason;
}

export interface Sent {
  readonly operation: number;
  readonly name: OperationName;
  readonly body: string;
  readonly idempotencyKey?: string;
  /** Of the last try. */
  readonly requestId: string;
}

const PUSH_TIMEOUT = 10_000;
const BATCH_TIMEOUT = 30_000;
const CONCLUDED = new Set(['DONE']);
const NAMES = new Map([['li', 'Li Lei']]);
const parsers = createBodyParsers(CONTRACT);

export const idOf = (number: number) => number.toString(16).padStart(24, '0');

interface Settled {
  readonly settlement: Settlement;
  readonly revision?: number;
}

/** Decides pushes one after the other, as the fold does. */
function aLedger() {
  const matters = new Map<string, Matter>();
  /** By operation: what its first try came to. */
  const persisted = new Map<number, { readonly requestId: string; readonly result: Outcome }>();
  const settle = (sent: Sent, externalId: string): Settled => {
    const before = matters.get(externalId);
    const first = sent.idempotencyKey === undefined ? undefined : persisted.get(sent.operation);
    if (first && before) {
      const { requestId: duplicateOf, result: outcome } = first;
      const matterId = String(before.matterId);
      return { settlement: { state: 'REPLAYED', outcome, matterId, duplicateOf } };
    }
    const { data } = parsers[sent.name](JSON.parse(sent.body));
    if (!data) return { settlement: { state: 'REFUSED', reason: 'VALIDATION_FAILED' } };
    const newMatterId = BigInt(matters.size + 1);
    const context = { systemCode: 'OA', externalId, now: NOW, newMatterId, names: NAMES };
    const decision = decide(before, data.operation, { ...context, concluded: CONCLUDED });
    if (decision.kind === 'rejected') {
      return { settlement: { state: 'REFUSED', reason: decision.reason } };
    }
    const { matter, outcome } = decision;
    matters.set(externalId, matter);
    persisted.set(sent.operation, { requestId: sent.requestId, result: outcome });
    const matterId = String(matter.matterId);
    const settlement: Settlement = { state: 'PERSISTED', outcome, matterId };
    return { settlement, ...(matter !== before && { revision: matter.revision }) };
  };
  return { matters, settle };
}

export function aRun() {
  const ledger = aLedger();
  const attempts: PushAttempt[] = [];
  const entries: LogEntry[] = [];
  const faults: Fault[] = [];
  const batches: BatchTry[] = [];
  let clock = 0;
  let operations = 0;

  const operationOf = (name: OperationName, body: Body, key?: string) => {
    operations += 1;
    const text = JSON.stringify({ ...aBody(name, body), marker: operations });
    const keyed = key === undefined ? {} : { idempotencyKey: key };
    return { operation: operations, name, body: text, ...keyed };
  };
  const send = (operation: Omit<Sent, 'requestId'>, how: Try = {}, place?: LinePlace): Sent => {
    const { at = [clock + 10, clock + 15], end, fate = 'decided' } = how;
    const sent = { ...operation, requestId: idOf(attempts.length + 1) };
    const externalId: string = JSON.parse(sent.body).externalId ?? `auto:${sent.operation}`;
    const settled = fate === 'decided' ? ledger.settle(sent, externalId) : undecided(fate);
    const entry = settled && entryOf(sent, { externalId, sentAt: at[0], ...settled });
    const batch = place && { batchId: batchIdOf(place.request), batchLine: place.line };
    if (entry) entries.push({ ...entry, ...batch });
    if (end === 'lost' || end === 'refused') faults.push(aFault('kill-web', at[1] - 1, at[1] + 1));
    const attempt = attemptOf(sent, at, endingOf(sent, entry, end));
    attempts.push({ ...attempt, ...(place && { batch: place }) });
    clock = Math.max(clock, at[1]);
    return sent;
  };

  return {
    /** Sends the first try of an operation; its body is like no other's. */
    push(name: OperationName, body: Body = {}, how: Try & { readonly key?: string } = {}): Sent {
      return send(operationOf(name, body, how.key), how);
    },
    /** Sends a batch, whose lines are decided in their order; `isLost`: its answer does not arrive. */
    batch(
      lines: readonly SentLine[],
      {
        at = [clock + 10, clock + 15],
        isLost = false,
      }: Pick<Try, 'at'> & { isLost?: boolean } = {},
    ): Sent[] {
      const request = batches.length + 1;
      const sent = lines.map(({ name, body = {}, key, end, fate }, index) => {
        const how = { at, end: isLost ? 'lost' : end, fate } as const;
        return send(operationOf(name, body, key), how, { request, line: index + 1 });
      });
      const ends = attempts.slice(-lines.length).map((attempt) => attempt.end);
      const answer = isLost ? {} : { answer: batchAnswer(request, ends) };
      batches.push({ request, lines: lines.length, ...answer });
      return sent;
    },
    retry: (sent: Sent, how: Try = {}): Sent => send(sent, how),
    evidence: (over: Partial<Evidence> = {}): Evidence => ({
      history: {
        pushTimeout: PUSH_TIMEOUT,
        batchTimeout: BATCH_TIMEOUT,
        attempts: [...attempts],
        batches: [...batches],
        faults: [...faults],
        stalls: [],
        serverStalls: [],
        elections: [],
        clockShifts: new Map(),
      },
      matters: [...ledger.matters.values()],
      entries: [...entries],
      names: NAMES,
      concluded: CONCLUDED,
      timeZone: CONTRACT.timeZone,
      faultsEndedAt: 1_000_000_000,
      leftovers: [],
      ...over,
    }),
  };
}

export const aFault = (kind: FaultKind, from: number, to: number, target = 'web-0'): Fault => ({
  kind,
  target,
  from,
  to,
});

const batchIdOf = (request: number) => new Types.ObjectId(idOf(1_000_000 + request));

function batchAnswer(request: number, ends: readonly AttemptEnd[]): BatchAnswer {
  const total = ends.length;
  const succeeded = ends.filter(isAccepted).length;
  const isWhole = succeeded === total;
  return {
    ...(isWhole ? { status: 200, code: 0 } : { status: 207, code: 207, reason: 'PARTIAL_FAILURE' }),
    ...{ requestId: String(batchIdOf(request)), total, succeeded, failed: total - succeeded },
    lineNumbers: ends.map((_, index) => index + 1),
  };
}

function undecided(fate: Exclude<Try['fate'], 'decided' | undefined>): Settled | undefined {
  if (fate === 'unseen') return undefined;
  if (fate === 'expired') return { settlement: { state: 'EXPIRED' } };
  return { settlement: { state: 'REFUSED', reason: fate } };
}

interface Placed extends Settled {
  readonly externalId: string;
  readonly sentAt: number;
}

function entryOf(sent: Sent, { externalId, sentAt, settlement, revision }: Placed): LogEntry {
  const { requestId, name: operation, body, idempotencyKey } = sent;
  return {
    _id: new Types.ObjectId(requestId),
    clientId: 'demo-oa',
    systemCode: 'OA',
    operation,
    externalId,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    bodyHash: createHash('sha256').update(body).digest('hex'),
    bodySize: body.length,
    receivedAt: new Date(NOW + sentAt),
    deadlineAt: new Date(NOW + sentAt + PUSH_TIMEOUT),
    startedAt: new Date(NOW + sentAt + 1),
    ...resultOf(settlement),
    ...(revision !== undefined && { revision }),
  };
}

function attemptOf(
  { requestId: _, ...sent }: Sent,
  [sentAt, endedAt]: readonly [number, number],
  end: AttemptEnd,
): PushAttempt {
  return { clientId: 'demo-oa', systemCode: 'OA', web: 'web-0', ...sent, sentAt, endedAt, end };
}

/** A matter's life, with everything that may become of a push. */
export function anHonestRun() {
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
  const rejected = run.push('status', { bizStatus: 'DONE' });
  const missing = run.push('status', { externalId: 'A-2' });
  const expired = run.push('upsert', {}, { fate: 'expired' });
  const shed = run.push('upsert', {}, { fate: 'unseen', end: 'BACKLOG_FULL' });
  const away = run.push('upsert', {}, { fate: 'unseen', end: 'QUEUE_UNAVAILABLE' });
  const invalid = run.push('upsert', { title: ' ' });
  const notice = run.push('upsert', { matterType: 'NOTICE', externalId: undefined });
  const revived = run.push('upsert', { externalId: 'A-1' }, { end: 'lost', key: 'r' });
  const known = run.retry(revived);
  const about = { created, keyed, replayed, stale, deleted, again, rejected, missing, expired };
  return { run, ...about, shed, away, invalid, notice, revived, known };
}

function endingOf(sent: Sent, entry: LogEntry | undefined, end: Try['end']): AttemptEnd {
  if (end === 'lost') return { kind: 'lost', why: 'ECONNRESET' };
  if (end === 'refused' || end === 'hung') return { kind: end };
  const { requestId } = sent;
  const isSuccess = entry?.state === 'PERSISTED' || entry?.state === 'REPLAYED';
  if (end === undefined && isSuccess) {
    return {
      kind: 'answered',
      status: 200,
      code: 0,
      requestId,
      externalId: entry.externalId ?? '',
      outcome: entry.result ?? '',
      matterId: String(entry.matterId),
      replayed: entry.state === 'REPLAYED',
    };
  }
  const reason = end ?? (entry?.result as Reason | undefined) ?? 'DATABASE_UNAVAILABLE';
  const { code } = new PushError(reason);
  return { kind: 'answered', status: code, code, reason, requestId, replayed: false };
}
