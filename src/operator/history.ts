/** The last hour: pushes by minute, as all processes have counted them, what waited, and what happened. */
import type { Connection } from 'mongoose';
import { systemClock } from '../concurrency/clock';
import { withTimeout } from '../concurrency/timeout';
import type { Status } from '../status/look';
import { createAuditTrail } from '../storage/audit/trail';
import { type CountsRead, createReadCounts } from '../storage/push-log/read-counts';
import { type Mark, marksOf } from './marks';
import { HISTORY, type QueueHistory, type QueueSample } from './queue-history';
import { KINDS, type Kind, kindOf } from './results';

export type Minute = Readonly<Record<Kind, number>> & {
  /** Where it begins, epoch milliseconds. */
  readonly at: number;
};

export interface History {
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  /** Null where MongoDB does not tell. */
  readonly minutes: readonly Minute[] | null;
  /** There is more than is counted: the first minutes may be too low. */
  readonly isCut: boolean;
  /** As this process has seen it since its start. */
  readonly queue: readonly QueueSample[];
  /** The oldest first. */
  readonly marks: readonly Mark[];
  /** Whether entries of the audit trail are among them. */
  readonly hasAudit: boolean;
}

const MINUTE = 60_000;
const TIMEOUT = 4_000;
const MOST_ENTRIES = 50;

type Read = Pick<History, 'minutes' | 'isCut'> & {
  readonly audit: Parameters<typeof marksOf>[0]['audit'];
};

/** @returns to be asked with what was seen just now; it does not fail, and is over in time */
export function createHistory(mongo: Connection, queue: QueueHistory) {
  const counts = createReadCounts(mongo);
  const trail = createAuditTrail(mongo, systemClock);
  const read = async (from: number, to: number): Promise<Read> => {
    const inTime = <T>(call: Promise<T>) => withTimeout(call, TIMEOUT).catch(() => null);
    const [counted, entries] = await Promise.all([
      inTime(counts.read({ from, to }, 'minute')),
      inTime(trail.list({ since: from }, MOST_ENTRIES)),
    ]);
    const minutes = counted && minutesOf(counted, from, to);
    return { minutes, isCut: counted?.cutAt !== undefined, audit: entries };
  };
  return {
    read: async (): Promise<Read & Pick<History, 'from' | 'to'>> => {
      const to = Math.ceil(systemClock() / MINUTE) * MINUTE;
      const from = to - HISTORY;
      return { from, to, ...(await read(from, to)) };
    },
    /** What was read, with what this process has noted and what the look has shown. */
    complete: (
      { audit, ...read }: Read & Pick<History, 'from' | 'to'>,
      status: Status,
    ): History => {
      const outages = queue.outages();
      const marks = marksOf({ audit, outages, status, from: read.from });
      return { ...read, queue: queue.samples(), marks, hasAudit: audit !== null };
    },
  };
}

/** One for each minute, also where nothing came. */
function minutesOf({ counts }: CountsRead, from: number, to: number): Minute[] {
  const none = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>;
  const minutes = Array.from({ length: (to - from) / MINUTE }, (_, n) => ({
    ...none,
    at: from + n * MINUTE,
  }));
  for (const { start, result, pushes = 0 } of counts) {
    const minute = minutes[Math.floor((start - from) / MINUTE)];
    if (minute) minute[kindOf(result)] += pushes;
  }
  return minutes;
}
