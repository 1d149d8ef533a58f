/** One scenario: every contender in turn, round by round, so that the machine's moods meet all. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProxy, type TcpProxy } from '../chaos/proxy';
import { Releasers } from '../src/embedded/run-context';
import { type Ground, type Running, type Size, startContender } from './contenders';
import type { Round, RoundResult } from './load/run-round';
import type { Scenario } from './scenarios';

export interface RoundFigures extends RoundResult {
  /** Microseconds of processor time per push, by process; the servers and the generator as well. */
  readonly cpuPerPush: Readonly<Record<string, number>>;
}

/** One contender in one size. */
export interface Series {
  readonly scenario: string;
  readonly contender: string;
  readonly size: Size;
  readonly rounds: readonly RoundFigures[];
}

export interface MeasureOptions {
  readonly ground: Ground;
  /** Processes whose processor time counts for whoever is measured. */
  readonly servers: Readonly<Record<string, number>>;
  readonly rounds: number;
  /** Milliseconds. */
  readonly warmUp: number;
  readonly duration: number;
  readonly say: (text: string) => void;
  /** Once aborted, the next round throws. */
  readonly signal: AbortSignal;
}

export async function measureScenario(
  scenario: Scenario,
  options: MeasureOptions,
): Promise<Series[]> {
  const { ground, rounds, say, signal } = options;
  const releasers = new Releasers();
  try {
    const generator = await startGenerator(ground.root);
    releasers.add(generator.stop);
    const reached = { ...ground, ...(await withLatency(ground, scenario.latency, releasers)) };
    const series = scenario.sizes.flatMap((size) =>
      scenario.contenders.map((name) => ({ name, size, rounds: [] as RoundFigures[] })),
    );
    for (let round = 0; round < rounds; round += 1) {
      // Whoever comes first in one round does not in the next: each inherits the servers from another.
      for (const { name, size, rounds: done } of rotated(series, round)) {
        signal.throwIfAborted();
        // New ones each time: what others do while they are idle must not cost who is measured.
        const running = await startContender(name, reached, size);
        try {
          done.push(await runOne(generator, scenario, { running, round, ...options }));
        } finally {
          await running.stop();
        }
      }
    }
    return series.map(({ name, ...one }) => ({
      ...{ scenario: scenario.name, contender: name, ...one },
    }));
  } finally {
    await releasers.run(say);
  }
}

function rotated<T>(items: readonly T[], by: number): T[] {
  const from = by % items.length;
  return [...items.slice(from), ...items.slice(0, from)];
}

/** Every answer of the database late by so much, each way by half of it. */
async function withLatency(
  ground: Ground,
  latency: number | undefined,
  releasers: Releasers,
): Promise<Partial<Ground>> {
  if (!latency) return {};
  const url = new URL(ground.mongoUrl);
  const proxy: TcpProxy = await startProxy(Number(url.port), url.hostname);
  releasers.add(proxy.close);
  proxy.setDelay(latency / 2);
  url.port = String(proxy.port);
  return { mongoUrl: url.href };
}

interface Generator {
  readonly pid: number;
  /** @throws Error where the round fails, or the signal's reason */
  run(round: Round, signal: AbortSignal): Promise<RoundResult>;
  stop(): Promise<void>;
}

interface Answer {
  readonly result?: RoundResult;
  readonly error?: string;
}

async function startGenerator(root: string): Promise<Generator> {
  const child: ChildProcess = fork(join(root, 'dist/bench/load/generator.js'));
  await once(child, 'message');
  return {
    pid: Number(child.pid),
    run: async (round, signal) => {
      child.send(round);
      const ended = once(child, 'exit', { signal }).then(() => [{ error: 'the generator ended' }]);
      const answered = once(child, 'message', { signal });
      const [answer] = (await Promise.race([answered, ended])) as [Answer];
      if (answer.result === undefined) throw new Error(answer.error);
      return answer.result;
    },
    stop: async () => {
      if (!child.connected) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

async function runOne(
  generator: Generator,
  { keys, connections }: Scenario,
  about: MeasureOptions & { running: Running; round: number },
): Promise<RoundFigures> {
  const { running, round, servers, warmUp, duration, signal } = about;
  const { clientId, secret } = running.client;
  const pids = { ...running.pids, ...servers, generator: generator.pid };
  const before = cpuTimes(pids);
  const to = { ports: running.ports, clientId, secret };
  const how = { connections, keys, name: `${round}`, warmUp, duration };
  const result = await generator.run({ ...to, ...how }, signal);
  const after = cpuTimes(pids);
  const cpuPerPush = Object.fromEntries(
    Object.keys(pids).map((process) => {
      const spent = (after[process] ?? 0) - (before[process] ?? 0);
      return [process, Math.round((1_000 * spent) / Math.max(1, result.acceptedInAll))];
    }),
  );
  return { ...result, cpuPerPush };
}

/** Linux counts in hundredths of a second, of which this makes milliseconds. */
const TICK_MS = 10;

function cpuTimes(pids: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(pids).map(([name, pid]) => {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [name, TICK_MS * (Number(fields[11]) + Number(fields[12]))];
    }),
  );
}
