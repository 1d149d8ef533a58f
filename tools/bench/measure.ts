/**
 * Measures one scenario. The contenders take turns in each round, so that changes in the speed of the machine affect
 * all of them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startProxy, type TcpProxy } from '../harness/proxy';
import { Releasers } from '../local/run-context';
import {
  type BenchGround,
  type ContenderName,
  countsFolder,
  loadOf,
  type OtherBuild,
  type Running,
  type Size,
  startContender,
} from './contenders';
import { type Generator, startGenerator } from './generator';
import type { RoundResult } from './load/generator';
import type { KeyChoice } from './load/pushes';

/** A load, and the contenders and sizes for which it is measured. */
export interface Scenario {
  readonly name: string;
  /** `file`: the pushes of the file in `--pushes`. */
  readonly keys: KeyChoice | 'file';
  readonly connections: number;
  readonly sizes: readonly Size[];
  readonly contenders: readonly ContenderName[];
  /** Milliseconds by which a proxy delays every answer of the database. */
  readonly latency?: number;
  /** Additional settings of the processes of the contenders. */
  readonly env?: Readonly<Record<string, string>>;
  /** True if `--quick` omits the scenario. */
  readonly isLong?: boolean;
}

interface CommandCounts {
  /** Commands that the contender sent to MongoDB. */
  readonly database: number;
  /** Commands that Redis processed, including the commands within scripts. */
  readonly redis: number;
}

export interface RoundFigures extends RoundResult {
  /** Microseconds of processor time per push, by process, including the servers and the generator. */
  readonly cpuPerPush: Readonly<Record<string, number>>;
  /** Per push. */
  readonly commands: CommandCounts;
}

/** The figures of one contender in one size. */
export interface Series {
  readonly scenario: string;
  readonly contender: string;
  /** True if the build of `--against` was measured. */
  readonly isOtherBuild?: boolean;
  readonly size: Size;
  readonly rounds: readonly RoundFigures[];
}

export interface BenchMeasureOptions {
  readonly ground: BenchGround;
  /** The build of `--against`. */
  readonly against?: OtherBuild | undefined;
  /** Pids of the servers, by name. Their processor time counts for the contender. */
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
  options: BenchMeasureOptions,
): Promise<Series[]> {
  const { ground, against, rounds, say, signal } = options;
  const releasers = new Releasers();
  try {
    const generator = await startGenerator(ground.root);
    releasers.add(generator.stop);
    const reached = {
      ...ground,
      ...(scenario.env && { env: scenario.env }),
      ...(await withLatency(ground, scenario.latency, releasers)),
    };
    const builds = against === undefined ? [undefined] : [undefined, against];
    const groups = scenario.sizes.flatMap((size) =>
      scenario.contenders.map((name) =>
        builds.map((other) => ({ name, other, size, rounds: [] as RoundFigures[] })),
      ),
    );
    for (let round = 0; round < rounds; round += 1) {
      // Two builds are measured one after the other, in changing order.
      const inTurn = inOrderOf(round, groups).flatMap((pair) => inOrderOf(round, pair));
      for (const { name, other, size, rounds: done } of inTurn) {
        signal.throwIfAborted();
        const { start, root } = other ?? { start: startContender, root: ground.root };
        // The processes start anew for each round: the background work of idle contenders would disturb it.
        const running = await start(name, { ...reached, root }, size);
        const label = other ? `${name}, other build` : name;
        try {
          done.push(await runOne(generator, scenario, { running, label, round, size, ...options }));
        } finally {
          await running.stop();
        }
      }
    }
    return groups.flat().map(({ name, other, ...one }) => ({
      ...{ scenario: scenario.name, contender: name, ...one },
      ...(other && { isOtherBuild: true }),
    }));
  } finally {
    await releasers.run(say);
  }
}

/**
 * The order changes with the round, because each contender uses the servers in the state that its predecessor left.
 * Every second round is reversed, so that two contenders also change places.
 */
function inOrderOf<T>(round: number, items: readonly T[]): T[] {
  const from = Math.floor(round / 2) % items.length;
  const rotated = [...items.slice(from), ...items.slice(0, from)];
  return round % 2 === 0 ? rotated : rotated.reverse();
}

/** Starts a proxy that delays each direction by half of the latency. */
async function withLatency(
  ground: BenchGround,
  latency: number | undefined,
  releasers: Releasers,
): Promise<Partial<BenchGround>> {
  if (!latency) return {};
  const url = new URL(ground.mongoUrl);
  const proxy: TcpProxy = await startProxy(Number(url.port), url.hostname);
  releasers.add(() => proxy.close());
  proxy.setDelay(latency / 2);
  url.port = String(proxy.port);
  return { mongoUrl: url.href };
}

async function runOne(
  generator: Generator,
  { keys, connections }: Scenario,
  about: BenchMeasureOptions & { running: Running; label: string; round: number; size: Size },
): Promise<RoundFigures> {
  const { ground, running, round, size, servers, warmUp, duration, signal } = about;
  const { clientId, systemCode, secret } = running.client;
  const pids = { ...running.pids, ...servers, generator: generator.pid };
  const to = { ports: running.ports, clientId, systemCode, secret };
  const beside = size.hot === undefined ? {} : { hot: size.hot };
  const load = loadOf(running.name);
  const how = {
    connections,
    ...load,
    ...beside,
    keys,
    name: `${round}`,
    until: { warmUp, duration },
  };
  const file = ground.file === undefined ? {} : { file: ground.file };
  const snapshots: Promise<Snapshot>[] = [];
  const onBoundary = () => void snapshots.push(takeSnapshot(pids, ground));
  const result = await generator.run({ ...to, ...how, ...file }, signal, onBoundary);
  for (const [what, count] of Object.entries(result.others)) {
    about.say(`${about.label}: ${count} pushes were answered ${what}`);
  }
  const [before, after] = await Promise.all(snapshots);
  if (!before || !after)
    throw new Error('the generator did not report the start and the end of the measurement');
  const perPush = (spent: number) => spent / Math.max(1, result.accepted);
  const cpuPerPush = Object.fromEntries(
    Object.keys(pids).map((process) => {
      const spent = (after.cpu[process] ?? 0) - (before.cpu[process] ?? 0);
      return [process, Math.round(perPush(1_000 * spent))];
    }),
  );
  const commands = {
    database: perPush(after.commands.database - before.commands.database),
    redis: perPush(after.commands.redis - before.commands.redis),
  };
  return { ...result, cpuPerPush, commands };
}

/** Totals since the start of the processes. */
interface Snapshot {
  /** Milliseconds, by process. */
  readonly cpu: Readonly<Record<string, number>>;
  readonly commands: CommandCounts;
}

async function takeSnapshot(
  pids: Readonly<Record<string, number>>,
  ground: BenchGround,
): Promise<Snapshot> {
  // The processor time is read first, because the next steps use the processor too.
  const cpu = cpuTimes(pids);
  return { cpu, commands: await readCommands(ground) };
}

/** @returns totals since the start of the servers. The count of the database can be 50 ms old */
async function readCommands({ folder, redisUrl }: BenchGround): Promise<CommandCounts> {
  const counts = countsFolder(folder);
  const database = readdirSync(counts)
    .map((name) => Number(readFileSync(join(counts, name), 'utf8')))
    .reduce((sum, one) => sum + one, 0);
  const redis = new Redis(redisUrl);
  try {
    const info = await redis.info('stats');
    return { database, redis: Number(/^total_commands_processed:(\d+)/m.exec(info)?.[1]) };
  } finally {
    redis.disconnect();
  }
}

/** Milliseconds per unit of processor time in /proc. */
const TICK_MS = 10;

/** @returns milliseconds of processor time since each process started */
export function cpuTimes(pids: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(pids).map(([name, pid]) => {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [name, TICK_MS * (Number(fields[11]) + Number(fields[12]))];
    }),
  );
}
