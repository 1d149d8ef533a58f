/**
 * `npm run bench push-log`: each question to the push log and the ledger, at two sizes of them side
 * by side on the same servers, through HTTP with signatures. Prints a table of p50 and p99 and of
 * their growth; fails where something grows by more than the goal.
 */

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startLoneWeb } from '../harness/app';
import { type Percentiles, summarizeFigures } from '../harness/figures';
import { keepResults, textTable } from '../harness/report';
import { HttpSender, type SigningCaller, signedHeaders } from '../harness/sender';
import { databaseUrl, withServers } from '../harness/servers';
import type { RunContext } from '../local/run-context';
import { fillDatabase, type Scale } from './push-log-data';
import { BENCH_QUERIES, type Query } from './push-log-queries';

/** Growth of p50 and of p99 from the small to the large log that is still called flat. */
const GOAL = 2;
/** Half a millisecond is below what a shared machine lets one see. */
const NOISE_MS = 0.5;

/** Milliseconds for an answer. */
const TIMEOUT = 60_000;

/** What a database of this size would be given at least. */
const CACHE = 8;

interface Options {
  readonly small: number;
  readonly large: number;
  readonly rounds: number;
  /** Part of the names of the queries that are measured; empty: all are. */
  readonly query: string;
}

/** @returns the exit code: 1 where a query grew by more than the goal, or failed */
export async function run({ root, args, say }: RunContext): Promise<number> {
  const options = readOptions(args);
  return withServers({ say, cacheSize: CACHE }, async ({ folder, mongo, redis, releasers }) => {
    const end = Date.now() - 3_600_000;
    const sides: Side[] = [];
    for (const entries of [options.small, options.large]) {
      const scale: Scale = { entries, matters: Math.max(20_000, entries / 10), end };
      const url = databaseUrl(mongo.url, `bench-${entries}`);
      const callers = await fillDatabase(url, scale, say);
      const servers = { mongoUrl: url, redisUrl: redis.url, namespace: `web-${entries}` };
      const web = await startLoneWeb({ root, folder }, servers);
      releasers.add(web.stop);
      const sender = new HttpSender(web.url, TIMEOUT);
      releasers.add(() => sender.close());
      sides.push({ scale, sender, callers });
    }
    const measured = await measureAll(sides, options, say);
    const { text, grown } = growthTable(measured, { goal: GOAL, noise: NOISE_MS });
    process.stdout.write(`\n${text}\n`);
    const results = { ...options, date: new Date().toISOString(), measured };
    keepResults(join(root, 'tools/bench/results/push-log.json'), results);
    return grown === 0 ? 0 : 1;
  });
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      small: { type: 'string', default: '50000' },
      large: { type: 'string', default: '5000000' },
      rounds: { type: 'string', default: '200' },
      query: { type: 'string', default: '' },
    },
  });
  const [small, large, rounds] = [values.small, values.large, values.rounds].map(Number);
  if (!small || !large || !rounds) throw new Error('--small, --large and --rounds are numbers');
  const { query } = values;
  if (!BENCH_QUERIES.some(({ name }) => name.includes(query)))
    throw new Error(`--query "${query}" is in no name of a query`);
  return { small, large, rounds, query };
}

interface Side {
  readonly scale: Scale;
  readonly sender: HttpSender;
  readonly callers: ReadonlyMap<string, SigningCaller>;
}

/** Interleaved: what the machine does at a moment meets both sizes. */
async function measureAll(
  sides: readonly Side[],
  { rounds, query: part }: Options,
  say: RunContext['say'],
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const query of BENCH_QUERIES.filter(({ name }) => name.includes(part))) {
    const times = sides.map((): number[] => []);
    const sizes = sides.map(() => 0);
    // The first calls of a query are warming up and not counted.
    for (let round = -5; round < rounds; round += 1) {
      const at = ((round + 5) * 0.618_033_988_75) % 1;
      for (const [index, side] of sides.entries()) {
        const { ms, rows } = await askSide(query, side, at);
        if (round < 0) continue;
        times[index]?.push(ms);
        sizes[index] = (sizes[index] ?? 0) + rows / rounds;
      }
    }
    const [small, large] = times.map(summarizeFigures);
    if (!small || !large) continue;
    measured.push({ name: query.name, small, large, rows: sizes });
    say(`${query.name}: p50 ${small.p50.toFixed(1)} -> ${large.p50.toFixed(1)} ms`);
  }
  return measured;
}

/**
 * @returns milliseconds until the last byte, and how many rows came
 * @throws Error where the answer is not code 0
 */
async function askSide(
  query: Query,
  { sender, callers, scale }: Side,
  at: number,
): Promise<{ ms: number; rows: number }> {
  const caller = callers.get(query.systemCode);
  if (!caller) throw new Error(`nobody pushes for ${query.systemCode}`);
  const body = query.body(at, scale);
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const path = `/api/open/${query.path}`;
  const { text, sentAt, endedAt } = await sender.post(path, signedHeaders(caller, bytes), bytes);
  // A stream ends with its envelope.
  const lines = text.trim().split('\n');
  const envelope = JSON.parse(lines.at(-1) ?? '');
  if (envelope.code !== 0) throw new Error(`${path} answered ${text.slice(0, 500)}`);
  const rows = lines.length > 1 ? lines.length - 1 : rowsOf(envelope.data);
  return { ms: endedAt - sentAt, rows };
}

function rowsOf(data: Record<string, unknown>): number {
  return Object.values(data).find(Array.isArray)?.length ?? 0;
}

interface Measured {
  readonly name: string;
  readonly small: Percentiles;
  readonly large: Percentiles;
  /** Rows of an answer, on average, at each size. */
  readonly rows: readonly number[];
}

/** @returns the table, and how many rows grew by more than the goal */
function growthTable(
  measured: readonly Measured[],
  { goal, noise }: { readonly goal: number; readonly noise: number },
): { text: string; grown: number } {
  let grown = 0;
  const lines = [];
  for (const { name, small, large, rows } of measured) {
    const growth = [growthOf(small.p50, large.p50, noise), growthOf(small.p99, large.p99, noise)];
    const passes = growth.every((factor) => factor < goal);
    if (!passes) grown += 1;
    lines.push([
      name,
      rows.map((count) => Math.round(count)).join(' / '),
      ...[small.p50, small.p99, large.p50, large.p99].map((ms) => ms.toFixed(1)),
      ...growth.map((factor) => factor.toFixed(2)),
      passes ? `< ${goal}: pass` : `< ${goal}: FAIL`,
    ]);
  }
  return { text: textTable(lines, HEAD), grown };
}

const HEAD = [
  ...['query', 'rows', 'p50 ms', 'p99 ms', 'p50 large', 'p99 large'],
  ...['p50 x', 'p99 x', 'goal'],
];

const growthOf = (small: number, large: number, noise: number) => large / Math.max(small, noise);
