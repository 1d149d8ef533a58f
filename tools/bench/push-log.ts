/**
 * `npm run bench push-log`: each question to the push log and the ledger, at two sizes of them side
 * by side on the same servers, through HTTP with signatures. Prints a table of p50 and p99 and of
 * their growth; fails where something grows by more than the goal.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RunContext } from '../local/run-context';
import { ask, type Caller } from './caller';
import { fillDatabase } from './fill';
import type { Scale } from './generate';
import { QUERIES, type Query } from './queries';
import { withServers } from './servers';
import { startBenchWeb } from './service';
import { growthTable, type Measured, summarize } from './table';

/** Growth of p50 and of p99 from the small to the large log that is still called flat. */
const GOAL = 2;
/** Half a millisecond is below what a shared machine lets one see. */
const NOISE_MS = 0.5;

/** What a database of this size would be given at least. */
const CACHE = 8;

interface Options {
  readonly small: number;
  readonly large: number;
  readonly rounds: number;
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
      const web = await startBenchWeb({
        root,
        folder,
        mongoUrl: url,
        redisUrl: redis.url,
        name: `web-${entries}`,
      });
      releasers.add(web.stop);
      sides.push({ scale, url: web.url, callers });
    }
    const measured = await measureAll(sides, options.rounds, say);
    const { text, grown } = growthTable(measured, { goal: GOAL, noise: NOISE_MS });
    process.stdout.write(`\n${text}\n`);
    saveResults(root, { ...options, date: new Date().toISOString(), measured });
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
    },
  });
  const [small, large, rounds] = [values.small, values.large, values.rounds].map(Number);
  if (!small || !large || !rounds) throw new Error('--small, --large and --rounds are numbers');
  return { small, large, rounds };
}

interface Side {
  readonly scale: Scale;
  readonly url: string;
  readonly callers: ReadonlyMap<string, Caller>;
}

/** Interleaved: what the machine does at a moment meets both sizes. */
async function measureAll(
  sides: readonly Side[],
  rounds: number,
  say: RunContext['say'],
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const query of QUERIES) {
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
    const [small, large] = times.map(summarize);
    if (!small || !large) continue;
    measured.push({ name: query.name, small, large, rows: sizes });
    say(`${query.name}: p50 ${small.p50.toFixed(1)} -> ${large.p50.toFixed(1)} ms`);
  }
  return measured;
}

function askSide(query: Query, { url, callers, scale }: Side, at: number) {
  const caller = callers.get(query.systemCode);
  if (!caller) throw new Error(`nobody pushes for ${query.systemCode}`);
  return ask(`${url}/api/open/${query.path}`, caller, query.body(at, scale));
}

function databaseUrl(mongoUrl: string, name: string): string {
  const url = new URL(mongoUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

function saveResults(root: string, results: unknown): void {
  const folder = join(root, 'tools/bench/results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'push-log.json'), `${JSON.stringify(results, null, 2)}\n`);
}
