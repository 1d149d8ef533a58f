/**
 * The client of a Matter Push service, `@matter-push/client`. It signs, retries, and keeps the order of each matter's
 * pushes. This module exports the public interface of the package.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { queryPath, VERIFY } from '../../src/protocol/paths';
import type { QueryAnswers, QueryName, Verified } from './answers';
import type {
  BatchPush,
  CallOptions,
  MatterPushClient,
  MatterPushClientOptions,
  PushOptions,
} from './api';
import { type Call, createCall } from './call';
import { confirmsQuery, confirmsVerified } from './confirmations';
import { keyProblem, MatterPushError, OWN } from './error';
import { createGate } from './gate';
import { checkOptions } from './options';
import { bytesOf } from './push-bytes';
import { PushQueue } from './push-queue';
import { type KeyedBatchPush, OrderedPushes } from './pushes';
import { createSender, type OutgoingRequest } from './sender';

export type * from './answers';
export type * from './api';
export type * from './bodies';
export { MatterPushError } from './error';

/** Creates a client. @throws TypeError that names the invalid option */
export function createMatterPushClient(options: MatterPushClientOptions): MatterPushClient {
  const { timeout, queue: mostWaiting, maxWait, ...checked } = checkOptions(options);
  const sender = createSender({ ...checked, timeout: checked.tryTimeout });
  const ways = { sender, gate: createGate(), retries: checked.retries, onRetry: checked.onRetry };
  const queue = new PushQueue({ ...checked, ...ways, maxWait });
  const pushes = new OrderedPushes(queue, ways);
  const calls = new Map<Call, Promise<unknown>>();
  let isClosed = false;

  /** @param work started synchronously, so that calls keep their order */
  const inCall = async <T>(
    { signal, idempotencyKey }: PushOptions,
    work: (call: Call) => Promise<T>,
  ): Promise<T> => {
    const isFull = queue.waiting >= mostWaiting;
    const rejection = isClosed ? OWN.CLOSED : isFull ? OWN.QUEUE_FULL : undefined;
    if (rejection) throw new MatterPushError(rejection, { tries: 0, idempotencyKey });
    const call = createCall(timeout, signal);
    try {
      const working = work(call);
      calls.set(call, working);
      return await working;
    } finally {
      call.end();
      calls.delete(call);
    }
  };
  const ask = async (
    { path, confirms }: Pick<OutgoingRequest, 'path' | 'confirms'>,
    body: object,
    more: PushOptions,
  ): Promise<unknown> => {
    const { idempotencyKey } = more;
    const request = { path, confirms, body: bytesOf(body), idempotencyKey };
    return (await inCall(more, (call) => pushes.request(request, undefined, call))).data;
  };
  const push: MatterPushClient['push'] = async (operation, body, more = {}) => {
    const { idempotencyKey = randomUUID() } = more;
    const problem = keyProblem(idempotencyKey);
    if (problem) throw problem;
    const keyed = { operation, body, idempotencyKey };
    return inCall({ ...more, idempotencyKey }, (call) =>
      maxWait === undefined ? pushes.alone(keyed, call) : pushes.gathered(keyed, call),
    );
  };
  const drain = async () => {
    while (calls.size > 0) {
      await Promise.allSettled(calls.values());
      // The callers receive their results first. They may then make further calls.
      await setImmediate();
    }
  };
  return {
    upsert: (body, more) => push('upsert', body, more),
    status: (body, more) => push('status', body, more),
    reopen: (body, more) => push('reopen', body, more),
    delete: (body, more) => push('delete', body, more),
    push,
    batch: async (list, more = {}) =>
      inCall(more, (call) => pushes.together(list.map(withKey), call)),
    verify: async (operation, body, more = {}) => {
      const endpoint = { path: queryPath(VERIFY), confirms: confirmsVerified };
      return (await ask(endpoint, { operation, push: body }, more)) as Verified;
    },
    query: async <Name extends QueryName>(name: Name, body: object, more: CallOptions = {}) => {
      const endpoint = { path: queryPath(name), confirms: confirmsQuery(name) };
      return (await ask(endpoint, body, more)) as QueryAnswers[Name];
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

const withKey = (push: BatchPush): KeyedBatchPush => {
  return { ...push, idempotencyKey: push.idempotencyKey ?? randomUUID() };
};
