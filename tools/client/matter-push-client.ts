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
  const { timeout, queue: maxWaiting, maxWait, ...checked } = checkOptions(options);
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
    const isFull = queue.waiting >= maxWaiting;
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
  const post = async (
    { path, confirms }: Pick<OutgoingRequest, 'path' | 'confirms'>,
    body: object,
    callOptions: PushOptions,
  ): Promise<unknown> => {
    const { idempotencyKey } = callOptions;
    const request = { path, confirms, body: bytesOf(body), idempotencyKey };
    return (await inCall(callOptions, (call) => pushes.request(request, undefined, call))).data;
  };
  const push: MatterPushClient['push'] = async (operation, body, callOptions = {}) => {
    const { idempotencyKey = randomUUID() } = callOptions;
    const problem = keyProblem(idempotencyKey);
    if (problem) throw problem;
    const keyed = { operation, body, idempotencyKey };
    return inCall({ ...callOptions, idempotencyKey }, (call) =>
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
    upsert: (body, callOptions) => push('upsert', body, callOptions),
    status: (body, callOptions) => push('status', body, callOptions),
    reopen: (body, callOptions) => push('reopen', body, callOptions),
    delete: (body, callOptions) => push('delete', body, callOptions),
    push,
    batch: async (list, callOptions = {}) =>
      inCall(callOptions, (call) => pushes.together(list.map(withKey), call)),
    verify: async (operation, body, callOptions = {}) => {
      const endpoint = { path: queryPath(VERIFY), confirms: confirmsVerified };
      return (await post(endpoint, { operation, push: body }, callOptions)) as Verified;
    },
    query: async <Name extends QueryName>(
      name: Name,
      body: object,
      callOptions: CallOptions = {},
    ) => {
      const endpoint = { path: queryPath(name), confirms: confirmsQuery(name) };
      return (await post(endpoint, body, callOptions)) as QueryAnswers[Name];
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
