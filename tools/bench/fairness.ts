/**
 * `npm run bench -- fairness`: two clients whose matters share one partition. One client sends more than the workers
 * process; the other client sends little. Prints a table. The exit code is 1 if a goal is missed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { withCluster } from '../harness/cluster';
import { type Latency, latencyOf, othersThan, sum } from '../harness/figures';
import { closedLoop, type LoadResult } from '../harness/load';
import { type Send, withSends } from '../harness/load-sender';
import { countLines, goalRow, loadReport, noneRow, type ReportRow } from '../harness/report';
import type { RunContext } from '../local/run-context';
import { untilStopped } from '../local/stop-request';
import { readRoundArguments } from './round-arguments';

/** Limit of pushes in the partition: fewer than the flooding client sends at a time. */
const LIMIT = 128;
const FLOOD = 400;
const QUIET = 4;
/** Milliseconds in which the flooding client is alone, and can fill the whole partition. */
const HEAD_START = 1_000;
/**
 * The long deadline keeps the load shedder out: on a slow machine it would reject pushes before the partition is
 * full.
 */
const ENV = {
  ...{ REDIS_PARTITIONS: '1', PARTITION_LIMIT: String(LIMIT), BATCH_LIMIT: '32' },
  ...{ PUSH_TIMEOUT: '60s', DRAIN_TIMEOUT: '90s' },
};
const FULL = '503 PARTITION_FULL';

/** @returns the exit code */
export async function run({ root, args, say }: RunContext): Promise<number> {
  const { rounds, duration, json } = readRoundArguments(args);
  return untilStopped(process.env, async (signal) => {
    const options = { root, say, signal, webs: 1, workers: 1, env: ENV };
    const done = await withCluster(options, (cluster) =>
      withSends(cluster, signal, async (sends) => {
        const measured: SharedRound[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const result = await runRound(sends, duration, signal);
          measured.push(result);
          say(`quiet: ${answersOf(result.quiet)}; flooding: ${answersOf(result.flood)}`);
        }
        return measured;
      }),
    );
    const report = loadReport({ rows: sharedRows(done), figures: { rounds: done } }, undefined);
    process.stdout.write(`${json ? JSON.stringify(report.summary) : report.text}\n`);
    return report.passed ? 0 : 1;
  });
}

/** The answers to one client in a round. */
interface Answers {
  /** Latency of the pushes that were written, in milliseconds. */
  readonly written: Latency;
  readonly others: Readonly<Record<string, number>>;
  /** Answers `PARTITION_FULL` without Retry-After. */
  readonly incomplete: number;
}

export interface SharedRound {
  readonly alone: Answers;
  readonly quiet: Answers;
  readonly flood: Answers;
}

async function runRound(
  [flooding, quiet]: readonly Send[],
  duration: number,
  signal: AbortSignal,
): Promise<SharedRound> {
  if (!flooding || !quiet) throw new Error('the directory has too few clients');
  const few = () => closedLoop(quiet, { connections: QUIET, duration, signal });
  const alone = await few();
  const whole = { connections: FLOOD, duration: duration + HEAD_START, signal };
  const flood = closedLoop(flooding, whole);
  await sleep(HEAD_START, undefined, { signal });
  const [beside, flooded] = await Promise.all([few(), flood]);
  return { alone: toAnswers(alone), quiet: toAnswers(beside), flood: toAnswers(flooded) };
}

const toAnswers = ({ answers }: LoadResult): Answers => ({
  written: latencyOf(answers.filter(({ kind }) => kind === '0')),
  others: othersThan(answers, '0'),
  incomplete: answers.filter(({ kind, hasRetryAfter }) => kind === FULL && !hasRetryAfter).length,
});

const answersOf = ({ written: { count, p50, p99 }, others }: Answers) =>
  [`${count} written, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`, countLines(others)]
    .filter(Boolean)
    .join('\n');

/** The rows of the report, with goals. */
export function sharedRows(rounds: readonly SharedRound[]): ReportRow[] {
  const seen = (of: (round: SharedRound) => Answers) =>
    rounds.map((round) => answersOf(of(round))).join('\n');
  const floods = rounds.map(({ flood }) => flood);
  const full = floods.map(({ others }) => others[FULL] ?? 0);
  const failed = sum(rounds.flatMap(({ quiet }) => Object.values(quiet.others)));
  return [
    { what: 'quiet client alone', seen: seen(({ alone }) => alone) },
    { what: 'quiet client beside the flood', seen: seen(({ quiet }) => quiet) },
    { what: 'flooding client', seen: seen(({ flood }) => flood) },
    noneRow('quiet client: answers other than 0', failed),
    // Without rejections the partition was not full.
    goalRow(`flooding client: ${FULL} in each round`, {
      value: Math.min(...full),
      seen: full.join(', '),
      min: 1,
    }),
    noneRow(`${FULL} without Retry-After`, sum(floods.map(({ incomplete }) => incomplete))),
  ];
}
