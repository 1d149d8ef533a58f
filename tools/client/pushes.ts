/** The ways of a push through the client: alone, gathered with those of other calls, or in a batch. */

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

  /** @param key of the matter; undefined: it depends on no other call @throws MatterPushError */
  async request(request: OutgoingRequest, key: string | undefined, call: Call): Promise<Settled> {
    const endTurn = await this.queue.turn(key, call.stopped);
    try {
      return await settle(request, call, this.ways);
    } finally {
      endTurn();
    }
  }

  /** @throws MatterPushError */
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

  /** With those of other calls that come in the same moment. @throws MatterPushError */
  gathered(push: KeyedBatchPush, call: Call): Promise<PushResult> {
    const body = bodyInBatch(push.body);
    if (!body) return this.alone(push, call);
    return new Promise((resolve, failed) => {
      const settled = (result: PushResult | MatterPushError) =>
        result instanceof MatterPushError ? failed(result) : resolve(result);
      this.queue.gather(call, keyed(push, body, { settled, failed }));
    });
  }

  /** Those of one call. @returns what became of each, in their order */
  together(
    pushes: readonly KeyedBatchPush[],
    call: Call,
  ): Promise<(PushResult | MatterPushError)[]> {
    // All before the first is sent: of one that cannot be written as JSON the caller hears at once.
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
  told: PushEnd,
): KeyedPush {
  return { key: externalId, push: { operation, body: bytes, idempotencyKey }, told };
}

function asResult(error: unknown): MatterPushError {
  if (error instanceof MatterPushError) return error;
  throw error;
}
