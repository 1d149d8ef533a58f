/** The name of everything that lives in Redis. One hash tag, so that a Redis Cluster can host it. */

export interface RedisKeys {
  /** BullMQ's prefix. */
  readonly bullPrefix: string;
  lane(lane: number): string;
  /** By lane, who is working on what it read and has not finished. */
  readonly holders: string;
  /** Channel on which one ingress listens for replies. */
  replies(ingressId: string): string;
  /** Which path a signature was used on, by minute of its timestamp. */
  signatures(minute: number): string;
  rate(clientId: string): string;
  workerNumber(number: number): string;
}

/** @param namespace keeps deployments (and tests) that share a Redis apart (REDIS_NAMESPACE) */
export function createRedisKeys(namespace: string): RedisKeys {
  const tag = `{${namespace}}`;
  return {
    bullPrefix: tag,
    // 2: the format of its items (push.ts). Processes of two formats must not share a lane.
    lane: (lane) => `${tag}:lane:2:${lane}`,
    holders: `${tag}:holders`,
    replies: (ingressId) => `${tag}:replies:${ingressId}`,
    signatures: (minute) => `${tag}:signatures:${minute}`,
    rate: (clientId) => `${tag}:rate:${clientId}`,
    workerNumber: (number) => `${tag}:worker:${number}`,
  };
}

export const TURN_QUEUE = 'turns';
