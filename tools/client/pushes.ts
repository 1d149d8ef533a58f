/** Sends a push alone, in a batch with pushes of other calls, or in a batch of one call. */

import { pushPath } from '../../src/protocol/paths';
import type { PushData } from './answers';
import type { BatchPush, PushResult } from './api';
import type { Call } from './call';
import { confirmsPush } from './confirmations';
import { keyProblem, MatterPushError } from './error';
import type { PushEnd } from './pending-push';
import { type BatchBody, bodyInBatch, bytesOf, externalIdOfBody } from './push-bytes';
import type { KeyedPush, PushQueue } from './push-queue';
import type { OutgoingRequest } from './sender';
import { type Settled, settle, type Ways } from './settle';

export type KeyedBatchPush = BatchPush & Required<Pick<BatchPush, 'idempotencyKey'>>;

export class OrderedPushes {
  constructor(
    private readonly queue: PushQueue,
    private readonly ways: Ways,
  ) {}

  /** @param key the matter; undefined: the request does not depend on other calls @throws MatterPushError */
  async request(request: OutgoingRequest, key: string | undefined, call: Call): Promise<Settled> {
    const endTurn = await this.queue.turn(key, call.stopped);
    try {
      return await settle(request, call, this.ways);
    } finally {
      endTurn();
    }
  }

  /** Sends a push alone. @throws MatterPushError */
  async alone(push: KeyedBatchPush, call: Call): Promise<PushResult> {
    const { operation, body, idempotencyKey } = push;
    const request = {
      ...{ path: pushPath(operation), body: bytesOf(body), idempotencyKey },
      confirms: confirmsPush,
    };
    const settled = await this.request(request, externalIdOfBody(body), call);
    const { data, requestId, replayed, tries } = settled;
    return { ...(data as PushData), requestId, replayed, tries };
  }

  /** Sends a push in a batch with pushes of concurrent calls. @throws MatterPushError */
  gathered(push: KeyedBatchPush, call: Call): Promise<PushResult> {
    const body = bodyInBatch(push.body);
    if (!body) return this.alone(push, call);
    return new Promise((resolve, failed) => {
      const settled = (result: PushResult | MatterPushError) =>
        result instanceof MatterPushError ? failed(result) : resolve(result);
      this.queue.gather(call, keyed(push, body, { settled, failed }));
    });
  }

  /** Sends the pushes of one call. @returns the result of each push, in order */
  together(
    pushes: readonly KeyedBatchPush[],
    call: Call,
  ): Promise<(PushResult | MatterPushError)[]> {
    // All bodies are converted before the first push is sent, so that an invalid body fails the whole call.
    const bodies = pushes.map(({ body }) => bodyInBatch(body));
    const joined: KeyedPush[] = [];
    const results = pushes.map((push, index) => {
      const problem = keyProblem(push.idempotencyKey);
      if (problem) return problem;
      const body = bodies[index];
      if (!body) return this.alone(push, call).catch(asResult);
      return new Promise<PushResult | MatterPushError>((settled, failed) => {
        joined.push(keyed(push, body, { settled, failed }));
      });
    });
    this.queue.add(call, joined);
    return Promise.all(results);
  }
}

function keyed(
  { operation, idempotencyKey }: KeyedBatchPush,
  { bytes, externalId }: BatchBody,
  onEnd: PushEnd,
): KeyedPush {
  return { key: externalId, push: { operation, body: bytes, idempotencyKey }, onEnd };
}

function asResult(error: unknown): MatterPushError {
  if (error instanceof MatterPushError) return error;
  throw error;
}
