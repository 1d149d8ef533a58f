/** One scenario: every contender in turn, round by round, so that the machine's moods meet all. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
  const releasers = new Releasers();
  try {
    const generator = await startGenerator(options.ground.root);
    releasers.add(generator.stop);
    const ground = await withLatency(options.ground, scenario.latency, releasers);
    const series: { size: Size; running: Running; rounds: RoundFigures[] }[] = [];
    for (const size of scenario.sizes) {
      for (const name of scenario.contenders) {
        const running = await startContender(name, ground, size);
        releasers.add(running.stop);
        running.halt(true);
        series.push({ size, running, rounds: [] });
      }
    }
    // The first round of everybody is warming up, and not counted.
    for (let round = 0; round <= options.rounds; round += 1) {
      for (const { running, rounds } of series) {
        options.signal.throwIfAborted();
        const name = `${scenario.name}-${running.ports[0]}-${round}`;
        const figures = await runOne(generator, scenario, { running, name, ...options });
        if (round > 0) rounds.push(figures);
      }
    }
    return series.map(({ size, running, rounds }) => ({
      ...{ scenario: scenario.name, contender: running.name, size, rounds },
    }));
  } finally {
    await releasers.run(options.say);
  }
}

/** Every answer of the database late by so much, each way by half of it. */
async function withLatency(
  ground: Ground,
  latency: number | undefined,
  releasers: Releasers,
): Promise<Ground> {
  if (!latency) return ground;
  const url = new URL(ground.mongoUrl);
  const proxy: TcpProxy = await startProxy(Number(url.port), url.hostname);
  releasers.add(proxy.close);
  proxy.setDelay(latency / 2);
  url.port = String(proxy.port);
  return { ...ground, mongoUrl: url.href };
}

/** Milliseconds. */
const SETTLING = 300;

interface Generator {
  readonly pid: number;
  run(round: Round): Promise<RoundResult>;
  stop(): Promise<void>;
}

async function startGenerator(root: string): Promise<Generator> {
  const child: ChildProcess = fork(join(root, 'dist/bench/load/generator.js'));
  await once(child, 'message');
  return {
    pid: Number(child.pid),
    run: async (round) => {
      child.send(round);
      const [answer] = (await once(child, 'message')) as [{ result: RoundResult; error?: string }];
      if (answer.error) throw new Error(answer.error);
      return answer.result;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

async function runOne(
  generator: Generator,
  { keys, connections }: Scenario,
  about: MeasureOptions & { running: Running; name: string },
): Promise<RoundFigures> {
  const { running, name, servers, warmUp, duration } = about;
  const { clientId, secret } = running.client;
  const pids = { ...running.pids, ...servers, generator: generator.pid };
  running.halt(false);
  // Timers that were due meanwhile run first.
  await sleep(SETTLING);
  const before = cpuTimes(pids);
  const to = { ports: running.ports, clientId, secret };
  const result = await generator.run({ ...to, connections, keys, name, warmUp, duration });
  const after = cpuTimes(pids);
  running.halt(true);
  const cpuPerPush = Object.fromEntries(
    Object.keys(pids).map((process) => [
      process,
      Math.round((1_000 * ((after[process] ?? 0) - (before[process] ?? 0))) / result.answered),
    ]),
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
