/** The measured queries. Most of them read another place of the log or the ledger in each call. */
import {
  BIG,
  benchExternalIdOf,
  benchReceivedAtOf,
  dayOf,
  keyOf,
  LOG_SPAN,
  matterOf,
  OPEN_MATTERS,
  RARE_REASON,
  requestIdOf,
  type Scale,
  SMALL_LOG,
  systemOf,
} from './push-log-data';

const HOUR = 3_600_000;
const LOG = 'push-logs/query';

export interface Query {
  readonly name: string;
  readonly path: string;
  /** The system of the client that signs the query. Entries of other systems must not slow it down. */
  readonly systemCode: string;
  /** @param at from 0 to 1: a place in the log or the ledger */
  readonly body: (at: number, scale: Scale) => unknown;
}

/** @returns the number of the last entry of the large system at or before a place of the log */
function entryAt(at: number, { entries }: Scale): number {
  let n = Math.min(Math.floor(at * entries), entries - 1);
  while (n > 0 && systemOf(n) !== BIG) n -= 1;
  return n;
}

const timeAt = (at: number, scale: Scale) =>
  benchReceivedAtOf(Math.floor(at * scale.entries), scale);
const window = (at: number, scale: Scale, span: number) => {
  const from = Math.min(timeAt(at, scale), scale.end - span);
  return { from, to: from + span };
};
const matterAt = (at: number, { matters }: Scale, margin: number) =>
  Math.floor(at * (matters - margin));

function log(name: string, body: Query['body'], systemCode = BIG): Query {
  return { name, path: LOG, systemCode, body };
}

export const BENCH_QUERIES: readonly Query[] = [
  log('log: the newest 50', () => ({ limit: 50 })),
  log('log: the newest 500', () => ({ limit: 500 })),
  log('log: the newest 50 of a small system', () => ({ limit: 50 }), SMALL_LOG),
  log('log: 50 before some moment', (at, scale) => ({ to: timeAt(at, scale) + 1, limit: 50 })),
  log('log: 50 of one hour', (at, scale) => ({ ...window(at, scale, HOUR), limit: 50 })),
  log('log: by request id', (at, scale) => ({ requestId: requestIdOf(entryAt(at, scale), scale) })),
  log('log: by idempotency key', (at, scale) => ({ idempotencyKey: keyOf(entryAt(at, scale)) })),
  log('log: by externalId', (at, scale) => ({
    externalId: benchExternalIdOf(Math.floor((at * scale.entries) / 10)),
  })),
  log('log: by outcome, common', (at, scale) => ({
    outcome: 'UPDATED',
    to: timeAt(at, scale) + 1,
  })),
  log('log: by reason, 10 of all', () => ({ reason: RARE_REASON })),
  log('log: by operation, 1 of 1,000', () => ({ operation: 'delete' })),
  log('log: by operation and outcome', (at, scale) => ({
    operation: 'status',
    outcome: 'CREATED',
    to: timeAt(at, scale) + 1,
  })),
  log('log: 50 and a count up to 10,000', (at, scale) => ({
    to: Math.max(timeAt(at, scale), scale.end - LOG_SPAN / 2),
    count: true,
  })),
  {
    name: 'matters/get, 500 ids',
    path: 'matters/get',
    systemCode: BIG,
    body: (at, scale) => {
      const first = matterAt(at, scale, 500);
      return { externalIds: Array.from({ length: 500 }, (_, n) => benchExternalIdOf(first + n)) };
    },
  },
  {
    name: 'matters/query, 500 changed since',
    path: 'matters/query',
    systemCode: BIG,
    body: (at, scale) => ({
      updatedFrom: Number(matterOf(matterAt(at, scale, 500), scale).updatedAt),
      limit: 500,
    }),
  },
  {
    name: 'matters/diff, 1,000 lines',
    path: 'matters/diff',
    systemCode: BIG,
    body: (at, scale) => {
      const first = matterAt(at, scale, 1_000);
      const lines = Array.from({ length: 1_000 }, (_, n) => ({
        externalId: benchExternalIdOf(first + n),
        bizStatus: n % 100 === 0 ? 'OTHER' : matterOf(first + n, scale).bizStatus,
      }));
      return { lines };
    },
  },
  {
    name: 'matters/digest of one day (2,500 matters)',
    path: 'matters/digest',
    systemCode: BIG,
    body: (at, scale) => {
      const day = dayOf(matterAt(at, scale, 10_000), scale) + 24 * HOUR;
      const date = new Date(day + 12 * HOUR).toISOString().slice(0, 10);
      return { fromDay: date, toDay: date };
    },
  },
  {
    name: 'matters/orphans, 5,000 open, 5 of them unknown',
    path: 'matters/orphans',
    systemCode: BIG,
    body: (_at, { matters }) =>
      Array.from({ length: OPEN_MATTERS - 5 }, (_, n) =>
        JSON.stringify(benchExternalIdOf(matters - OPEN_MATTERS + n)),
      ).join('\n'),
  },
];
