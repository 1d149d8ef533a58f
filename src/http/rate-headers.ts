/** The RateLimit headers (IETF draft "RateLimit header fields for HTTP"): pace instead of retrying. */
import type { RateState } from '../protocol/errors';

/** @returns the policy (q pushes in w seconds) and the state (r left, all of them after t seconds) */
export function rateHeaders({ rate, burst, remaining }: RateState): Record<string, string> {
  const seconds = (pushes: number) => Math.ceil(pushes / rate);
  return {
    'RateLimit-Policy': `"client";q=${burst};w=${seconds(burst)}`,
    RateLimit: `"client";r=${remaining};t=${seconds(burst - remaining)}`,
  };
}
