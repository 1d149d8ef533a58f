/**
 * `npm run bench push-log`: measures each query of the push log and the ledger at two sizes on the same servers, with
 * signed HTTP requests. Prints p50, p99 and their growth. The exit code is 1 if a query grows by more than the goal.
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

/** Limit for the growth of p50 and p99 from the small to the large log. */
const GOAL = 2;
/**
 * Lower limit for the time at the small size when growth is computed: shorter times are noise on a shared machine.
 */
const NOISE_MS = 0.5;

/** Milliseconds for an answer. */
const TIMEOUT = 60_000;

/** GB for the cache: the minimum that an operator would give to a database of this size. */
const CACHE = 8;

interface Options {
  readonly small: number;
  readonly large: number;
  readonly rounds: number;
  /** Measures only the queries whose names contain this text; empty: all queries. */
  readonly query: string;
}

/** @returns the exit code: 1 if a query grew by more than the goal */
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

/** The two sizes take turns, so that changes in the speed of the machine affect both. */
async function measureAll(
  sides: readonly Side[],
  { rounds, query: part }: Options,
  say: RunContext['say'],
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const query of BENCH_QUERIES.filter(({ name }) => name.includes(part))) {
    const times = sides.map((): number[] => []);
    const sizes = sides.map(() => 0);
    // The first calls of a query warm up the processes and do not count.
    for (let round = -5; round < rounds; round += 1) {
      const at = ((round + 5) * 0.618_033_988_75) % 1;
      for (const [index, side] of sides.entries()) {
        const { ms, rows } = await runQuery(query, side, at);
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
 * @returns milliseconds until the last byte, and the number of rows
 * @throws Error if the code of the answer is not 0
 */
async function runQuery(
  query: Query,
  { sender, callers, scale }: Side,
  at: number,
): Promise<{ ms: number; rows: number }> {
  const caller = callers.get(query.systemCode);
  if (!caller) throw new Error(`no client for the system ${query.systemCode}`);
  const body = query.body(at, scale);
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const path = `/api/open/${query.path}`;
  const { text, sentAt, endedAt } = await sender.post(path, signedHeaders(caller, bytes), bytes);
  // The envelope is the last line of a streamed answer.
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
  /** Average number of rows in an answer, for each size. */
  readonly rows: readonly number[];
}

/** @returns the table, and the number of queries that grew by more than the goal */
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
