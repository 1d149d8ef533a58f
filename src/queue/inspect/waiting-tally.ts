/**
 * Counts waiting pushes by group (all pushes of one matter) and by client. Every `matterctl` command loads this file,
 * so the file must not load a database driver.
 */
import { groupOf } from '../../domain/matter';
import type { WaitingPush } from '../records';

export interface WaitingCount {
  readonly waiting: number;
  /** Milliseconds for which the oldest push has waited. */
  readonly oldestMs: number;
}

export interface WaitingGroup extends WaitingCount {
  readonly systemCode: string;
  readonly externalId: string;
  readonly partition: number;
}

export interface WaitingClient extends WaitingCount {
  readonly clientId: string;
}

export interface WaitingTally {
  add(partition: number, push: WaitingPush): void;
  /** The group with the oldest push comes first. */
  groups(): WaitingGroup[];
  /** Sorted like `groups`. */
  clients(): WaitingClient[];
}

/** @param now Redis time, epoch milliseconds */
export function createWaitingTally(now: number): WaitingTally {
  const groups = new Map<string, WaitingGroup>();
  const clients = new Map<string, WaitingClient>();
  return {
    add: (partition, { systemCode, externalId, clientId, queuedAt }) => {
      const age = Math.max(0, now - queuedAt);
      const group = groupOf(systemCode, externalId);
      const identity = { systemCode, externalId, partition };
      groups.set(group, { ...identity, ...oneMore(groups.get(group), age) });
      clients.set(clientId, { clientId, ...oneMore(clients.get(clientId), age) });
    },
    groups: () => [...groups.values()].sort(byAge),
    clients: () => [...clients.values()].sort(byAge),
  };
}

/** @returns the `max` groups with the most pushes */
export function hottest(groups: readonly WaitingGroup[], max: number): WaitingGroup[] {
  return groups.toSorted((a, b) => b.waiting - a.waiting || byAge(a, b)).slice(0, max);
}

const byAge = (a: WaitingCount, b: WaitingCount) =>
  b.oldestMs - a.oldestMs || b.waiting - a.waiting;

function oneMore(before: WaitingCount | undefined, age: number): WaitingCount {
  if (!before) return { waiting: 1, oldestMs: age };
  return { waiting: before.waiting + 1, oldestMs: Math.max(before.oldestMs, age) };
}
