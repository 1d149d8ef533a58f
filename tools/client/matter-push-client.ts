/**
 * The client of a Matter Push service, `matter-push/client`: signs, retries, and keeps the order of
 * each matter's pushes. Everything that is exported here is meant for other packages.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { PushData, Verified } from '../../src/protocol/envelope';
import { pushPath, type QueryName, queryPath, VERIFY } from '../../src/protocol/paths';
import type {
  CallOptions,
  MatterPushClient,
  MatterPushClientOptions,
  PushOptions,
  QueryAnswers,
} from './api';
import { type Call, createCall } from './call';
import { MatterPushError, OWN } from './error';
import { createGate } from './gate';
import { createKeyOrder } from './key-order';
import { checkOptions } from './options';
import { createSender, type OutgoingRequest } from './sender';
import { type Settled, settle } from './settle';

export type { OperationName } from '../../src/domain/operation';
export type {
  ChangesPage,
  Digest,
  DigestBucket,
  GotMatters,
  HeldView,
  MatterDiff,
  MatterDifference,
  MatterDigest,
} from '../../src/protocol/comparison';
export type { Diagnosis, Difference, Finding } from '../../src/protocol/diagnosis';
export type { PushData, Verified } from '../../src/protocol/envelope';
export type {
  FailedRow,
  FailureGroup,
  FailureSample,
  Failures,
  FailureTotals,
  Mended,
} from '../../src/protocol/failures';
export type { FieldError } from '../../src/protocol/field-error';
export type { EntryView } from '../../src/protocol/log-entry';
export type { LogPage, PageEntry } from '../../src/protocol/log-page';
export type { MatterView, PartyView } from '../../src/protocol/matter-view';
export type { QueryName } from '../../src/protocol/paths';
export type { PushStats, StatsBucket, StatsRow, StatsTotal } from '../../src/protocol/push-stats';
export type {
  CheckedUsers,
  ClientRate,
  ClientSelf,
  Retentions,
  SecretView,
  ServiceLimits,
  UserState,
} from '../../src/protocol/self';
export type { Warning, WarningKind } from '../../src/protocol/warnings';
export type * from './api';
export type * from './bodies';
export { MatterPushError } from './error';

/** @throws TypeError naming the option that is none */
export function createMatterPushClient(options: MatterPushClientOptions): MatterPushClient {
  const { url, clientId, secret, agent, onRetry, ...numbers } = checkOptions(options);
  const { timeout, tryTimeout, retries, concurrency, queue } = numbers;
  const sender = createSender({ url, clientId, secret, concurrency, timeout: tryTimeout, agent });
  const ways = { sender, gate: createGate(), retries, onRetry };
  const order = createKeyOrder(concurrency);
  const calls = new Map<Call, Promise<unknown>>();
  let isClosed = false;

  const begin = async (request: OutgoingRequest, key: string | undefined, call: Call) => {
    const endTurn = await order.turn(key, call.stopped);
    try {
      return await settle(request, call, ways);
    } finally {
      endTurn();
    }
  };
  const send = async (
    path: string,
    body: object | Uint8Array,
    { signal, idempotencyKey }: PushOptions,
    key?: string,
  ): Promise<Settled> => {
    const rejection = isClosed ? OWN.CLOSED : order.waiting() >= queue ? OWN.QUEUE_FULL : undefined;
    if (rejection) throw new MatterPushError(rejection, { tries: 0, idempotencyKey });
    const request = { path, body: bytesOf(body), idempotencyKey };
    const call = createCall(timeout, signal);
    const settled = begin(request, key, call);
    calls.set(call, settled);
    try {
      return await settled;
    } finally {
      call.end();
      calls.delete(call);
    }
  };

  const push: MatterPushClient['push'] = async (operation, body, more = {}) => {
    const { idempotencyKey = randomUUID() } = more;
    const keyed = { ...more, idempotencyKey };
    const settled = await send(pushPath(operation), body, keyed, externalIdOf(body));
    const { data, requestId, replayed, tries } = settled;
    return { ...(data as PushData), requestId, replayed, tries };
  };
  const drain = async () => {
    while (calls.size > 0) {
      await Promise.allSettled(calls.values());
      // Whoever made the calls has heard of their end then.
      await setImmediate();
    }
  };
  return {
    upsert: (body, more) => push('upsert', body, more),
    status: (body, more) => push('status', body, more),
    reopen: (body, more) => push('reopen', body, more),
    delete: (body, more) => push('delete', body, more),
    push,
    verify: async (operation, body, more = {}) => {
      const { data } = await send(queryPath(VERIFY), { operation, push: body }, more);
      return data as Verified;
    },
    query: async <Name extends QueryName>(name: Name, body: object, more: CallOptions = {}) => {
      const { data } = await send(queryPath(name), body, more);
      return data as QueryAnswers[Name];
    },
    drain,
    close: async () => {
      isClosed = true;
      for (const call of calls.keys()) call.stop(OWN.CLOSED);
      await drain();
      sender.close();
    },
  };
}

/** A copy: what the caller does with the body later is not sent. */
function bytesOf(body: object | Uint8Array): Buffer {
  return Buffer.from(body instanceof Uint8Array ? body : JSON.stringify(body));
}

/** The matter that a body names; undefined: its push depends on no other. */
function externalIdOf(body: object | Uint8Array): string | undefined {
  const { externalId } = (body instanceof Uint8Array ? parse(body) : body) as ExternalId;
  return typeof externalId === 'string' ? externalId : undefined;
}

interface ExternalId {
  readonly externalId?: unknown;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString()) ?? {};
  } catch {
    // The service says what is wrong with it.
    return {};
  }
}
