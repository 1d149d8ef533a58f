/**
 * `npm run bench`: compares the product with simpler designs, on the same servers, with the same signed requests.
 * Prints a table. The exit code is 1 if a goal is missed. A complete run is saved in
 * tools/bench/results/compare.json. With `--against FOLDER`, it compares this build with the build in that folder.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { keepResults } from '../harness/report';
import { withServers } from '../harness/servers';
import type { RunContext } from '../local/run-context';
import { untilStopped } from '../local/stop-request';
import { compareReport } from './compare-report';
import { type ContenderName, otherBuildIn } from './contenders';
import { type BenchMeasureOptions, measureScenario, type Scenario, type Series } from './measure';

const CACHE = 2;

/** @returns the exit code */
export async function run({ root, args, say }: RunContext): Promise<number> {
  const { scenarios, json, isWhole, file, otherBuild, ...settings } = readOptions(args);
  const against = otherBuild === undefined ? undefined : otherBuildIn(otherBuild);
  return untilStopped(process.env, (signal) =>
    withServers({ say, cacheSize: CACHE }, async ({ folder, mongo, redis }) => {
      const options: BenchMeasureOptions = {
        ground: { root, folder, mongoUrl: mongo.url, redisUrl: redis.url, ...file },
        servers: { mongo: Number(mongo.pid), redis: Number(redis.pid) },
        against,
        ...settings,
        ...{ say, signal },
      };
      const measured: Series[] = [];
      for (const scenario of scenarios) {
        say(`${scenario.name}: ${scenario.contenders.join(', ')}`);
        measured.push(...(await measureScenario(scenario, options)));
        // A run takes half an hour, so the results are saved after each scenario.
        if (isWhole) keep(root, { ...settings, ...compareReport(measured).summary });
      }
      const report = compareReport(measured);
      process.stdout.write(json ? `${JSON.stringify(report.summary)}\n` : `\n${report.text}\n`);
      return report.passed ? 0 : 1;
    }),
  );
}

function keep(root: string, results: Readonly<Record<string, unknown>>): void {
  const dated = { date: new Date().toISOString(), node: process.version, ...results };
  keepResults(join(root, 'tools/bench/results/compare.json'), dated);
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      pushes: { type: 'string' },
      against: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  // An even number of rounds is fair to two builds, because they change places in every second round.
  const defaultRounds = values.against === undefined ? 3 : 4;
  const rounds = Number(values.rounds ?? (values.quick ? 1 : defaultRounds));
  const seconds = Number(values.seconds ?? (values.quick ? 2 : 8));
  if (!(rounds >= 1) || !(seconds > 0)) throw new Error('--rounds and --seconds are numbers');
  const unknown = positionals.filter((name) => !SCENARIOS.some((one) => one.name === name));
  if (unknown.length > 0) {
    throw new Error(`no scenario ${unknown}; there are ${SCENARIOS.map(({ name }) => name)}`);
  }
  if (positionals.includes('file-64') && values.pushes === undefined) {
    throw new Error('file-64 needs --pushes FILE: pushes as matterctl push takes them');
  }
  const isWanted = ({ name, keys, isLong }: Scenario) => {
    if (keys === 'file' && values.pushes === undefined) return false;
    return positionals.length > 0 ? positionals.includes(name) : !(values.quick && isLong);
  };
  const wanted = SCENARIOS.filter(isWanted);
  return {
    scenarios: values.against === undefined ? wanted : wanted.map(onlyOurs),
    otherBuild: values.against,
    file: values.pushes === undefined ? {} : { file: resolve(values.pushes) },
    json: values.json,
    /** Results of a partial run are not saved. */
    isWhole:
      !values.quick && values.against === undefined && positionals.length === 0 && rounds > 1,
    rounds,
    duration: seconds * 1_000,
    warmUp: values.quick ? 1_000 : 4_000,
  };
}

const onlyOurs = (scenario: Scenario): Scenario => ({
  ...scenario,
  contenders: scenario.contenders.filter((name) => name === 'matter-push' || name === 'batches'),
});

const ONE = [{ webs: 1, workers: 1 }];
const ALL: ContenderName[] = [
  ...(['matter-push', 'direct', 'bullmq-job', 'bullmq-shards', 'groupmq', 'web-only'] as const),
];
const MAIN: ContenderName[] = ['matter-push', 'direct', 'bullmq-job', 'web-only'];
const OURS: ContenderName[] = ['matter-push'];
/** The contenders for pushes of a file, which can contain every operation. */
const MIXED: ContenderName[] = ['matter-push', 'direct', 'web-only'];

/**
 * Settings that make the database the bottleneck instead of the processor: each answer is late, and batches are
 * small. The long deadlines prevent that one slow worker causes 503 answers.
 */
const SLOW_DATABASE = {
  latency: 100,
  env: { BATCH_LIMIT: '8', PUSH_TIMEOUT: '120s', DRAIN_TIMEOUT: '150s' },
};

/** All contenders get the same pushes: one at a time over 256 connections, or 200 at a time over 8 connections. */
const IN_BATCHES: ContenderName[] = ['batches', 'matter-push', 'direct', 'bulk-write'];

const SCENARIOS: readonly Scenario[] = [
  { name: 'distinct-1', keys: 'distinct', connections: 1, sizes: ONE, contenders: MAIN },
  { name: 'distinct-64', keys: 'distinct', connections: 64, sizes: ONE, contenders: ALL },
  { name: 'distinct-256', keys: 'distinct', connections: 256, sizes: ONE, contenders: ALL },
  { name: 'batch-200x8', keys: 'distinct', connections: 256, sizes: ONE, contenders: IN_BATCHES },
  { name: 'hot-64', keys: 'hot', connections: 64, sizes: ONE, contenders: ALL, isLong: true },
  { name: 'hot-256', keys: 'hot', connections: 256, sizes: ONE, contenders: ALL },
  { name: 'file-64', keys: 'file', connections: 64, sizes: ONE, contenders: MIXED },
  { name: 'zipf-64', keys: 'zipf', connections: 64, sizes: ONE, contenders: ALL, isLong: true },
  {
    ...{ name: 'scale-out', keys: 'distinct', connections: 512, contenders: OURS, isLong: true },
    ...SLOW_DATABASE,
    sizes: [1, 2, 4, 8].map((workers) => ({ webs: 1, workers })),
  },
  {
    ...{ name: 'hot-beside', keys: 'distinct', connections: 32, contenders: OURS, isLong: true },
    ...SLOW_DATABASE,
    sizes: [0, 128].map((hot) => ({ webs: 1, workers: 4, hot })),
  },
  {
    ...{ name: 'web-processes', keys: 'distinct', connections: 64, contenders: OURS, isLong: true },
    sizes: [1, 4, 16].map((webs) => ({ webs, workers: 1 })),
  },
];
