/** Counts what waits, by group and by client. Pure. */
import { groupOf } from '../domain/group';
import type { WaitingPush } from './push';

export interface Waiting {
  readonly waiting: number;
  /** For how long the oldest of them has waited. */
  readonly oldestMs: number;
}

export interface WaitingGroup extends Waiting {
  readonly systemCode: string;
  readonly externalId: string;
  readonly partition: number;
}

export interface WaitingClient extends Waiting {
  readonly clientId: string;
}

export interface WaitingTally {
  add(partition: number, push: WaitingPush): void;
  /** Whose oldest push has waited longest comes first; of two alike who has more of them. */
  groups(): WaitingGroup[];
  /** The same for clients: how far behind each is. */
  clients(): WaitingClient[];
}

/** @param now Redis time, epoch milliseconds: the clock that the pushes' times are from */
export function createWaitingTally(now: number): WaitingTally {
  const groups = new Map<string, WaitingGroup>();
  const clients = new Map<string, WaitingClient>();
  return {
    add: (partition, { systemCode, externalId, clientId, queuedAt }) => {
      const age = Math.max(0, now - queuedAt);
      const group = groupOf(systemCode, externalId);
      const place = { systemCode, externalId, partition };
      groups.set(group, { ...place, ...oneMore(groups.get(group), age) });
      clients.set(clientId, { clientId, ...oneMore(clients.get(clientId), age) });
    },
    groups: () => [...groups.values()].sort(byAge),
    clients: () => [...clients.values()].sort(byAge),
  };
}

/** The keys with the most pushes first, of two alike the older one. */
export function hottest(groups: readonly WaitingGroup[], most: number): WaitingGroup[] {
  return groups.toSorted((a, b) => b.waiting - a.waiting || byAge(a, b)).slice(0, most);
}

const byAge = (a: Waiting, b: Waiting) => b.oldestMs - a.oldestMs || b.waiting - a.waiting;

function oneMore(before: Waiting | undefined, age: number): Waiting {
  if (!before) return { waiting: 1, oldestMs: age };
  return { waiting: before.waiting + 1, oldestMs: Math.max(before.oldestMs, age) };
}
