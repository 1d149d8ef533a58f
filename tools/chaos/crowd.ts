/** All the third parties of a run, each with randomness of its own. */
import { setMaxListeners } from 'node:events';
import type { Cluster } from '../harness/cluster';
import { USERNAMES } from '../harness/directory';
import type { Random } from '../harness/random';
import { runCaller } from './callers';
import type { Attempt } from './history';
import { createOperations, type World } from './operations';

export interface CrowdOptions {
  readonly random: Random;
  readonly callers: number;
  readonly keys: Pick<World, 'hotKeys' | 'coldKeys'>;
  /** Milliseconds of a caller between two operations. */
  readonly pause: number;
  /** Told of every try as it ends. */
  readonly record: (attempt: Attempt) => void;
  readonly signal: AbortSignal;
}

/** Pushes until the signal; resolves when the last try is answered. */
export async function runCrowd({ clients, webs }: Cluster, options: CrowdOptions): Promise<void> {
  const { random, callers, keys, signal } = options;
  // Every caller listens to it, more than once.
  setMaxListeners(0, signal);
  const world = { ...keys, usernames: USERNAMES };
  const all = Array.from({ length: callers }, (_, number) => {
    const client = clients[number % clients.length];
    if (!client) throw new Error('the cluster has no clients');
    const own = random.fork(`caller ${number}`);
    const next = createOperations(own.fork('operations'), number, world);
    return runCaller({ ...options, client, targets: webs, random: own, next });
  });
  await Promise.all(all);
}
