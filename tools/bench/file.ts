/**
 * `npm run bench -- file`: sends a file of pushes with `matterctl push`. It measures whether a process grows or the
 * rate falls. Prints a table. The exit code is 1 if a goal is missed. A run of at least a million pushes is saved in
 * tools/bench/results/file.json.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { nativeCollection } from '../../src/infra/mongo';
import { entryModel } from '../../src/storage/push-log';
import { type Cluster, SMALL, withCluster } from '../harness/cluster';
import { startSampling } from '../harness/memory';
import { loadReport } from '../harness/report';
import type { RunContext } from '../local/run-context';
import { makeRunFolder } from '../local/run-folder';
import { untilStopped } from '../local/stop-request';
import { type FileFigures, fileRows, MILLION } from './file-report';
import { createLoadPushes } from './load/pushes';
import { cpuTimes } from './measure';
import { signatureBytes, type Tenth } from './million';

const USUAL = 100_000;
const TENTHS = 10;

interface Options {
  readonly pushes: number;
  /** Options of `matterctl push`. */
  readonly how: readonly string[];
  readonly json: boolean;
}

/** @returns the exit code */
export async function run({ root, args, say }: RunContext): Promise<number> {
  const { json, ...options } = readOptions(args);
  return untilStopped(process.env, async (signal) => {
    const folder = makeRunFolder('matter-push-file-');
    try {
      const file = join(folder, 'pushes.ndjson');
      writePushes(file, options.pushes);
      const context = { root, say, signal };
      const figures = await withCluster({ ...context, ...SMALL }, (cluster) =>
        pushFile(cluster, { ...options, ...context, folder, file }),
      );
      const keepIn = join(root, 'tools/bench/results/file.json');
      const isWhole = options.pushes >= MILLION;
      const measured = { rows: fileRows(figures), figures: { ...figures } };
      const report = loadReport(measured, isWhole ? keepIn : undefined);
      process.stdout.write(`${json ? JSON.stringify(report.summary) : report.text}\n`);
      return report.passed ? 0 : 1;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pushes: { type: 'string', default: String(USUAL) },
      batch: { type: 'string' },
      concurrency: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const pushes = Number(values.pushes);
  if (!(pushes >= TENTHS)) throw new Error(`--pushes (at least ${TENTHS}) is a number`);
  const { batch, concurrency } = values;
  const how = [
    ...(batch === undefined ? [] : ['--batch', batch]),
    ...(concurrency === undefined ? [] : ['--concurrency', concurrency]),
  ];
  return { pushes, how, json: values.json };
}

/** Lines per write to the file. */
const BLOCK = 1_000;

/** Writes a file of new matters, like a first load. */
function writePushes(file: string, count: number): void {
  const next = createLoadPushes('distinct', 'file');
  const fd = openSync(file, 'w');
  for (let written = 0; written < count; written += BLOCK) {
    const lines = Array.from({ length: Math.min(BLOCK, count - written) }, () => {
      const { operation, body } = next();
      return `{"op":"${operation}","body":${body}}\n`;
    });
    writeSync(fd, lines.join(''));
  }
  closeSync(fd);
}

interface FileRun extends Omit<Options, 'json'> {
  readonly root: string;
  readonly folder: string;
  readonly file: string;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

async function pushFile(cluster: Cluster, options: FileRun): Promise<FileFigures> {
  const { pushes, signal } = options;
  const from = performance.now();
  const command = startMatterctl(cluster, options);
  const pids = pidsOf(cluster);
  const before = cpuTimes(pids);
  const own = { matterctl: Number(command.pid) };
  // The system deletes the processor time of a process that ends. So it is read at intervals while the command runs.
  let ownCpu = 0;
  const look = setInterval(() => {
    if (command.exitCode === null) ownCpu = cpuTimes(own).matterctl ?? ownCpu;
  }, LOOK);
  try {
    const tenths = await watchTenths(cluster, command, options);
    const { exitCode, summary } = await command.ended;
    signal.throwIfAborted();
    const after = cpuTimes(pids);
    const spent = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
    const perPush = (ms: number) => Math.round((1_000 * ms) / pushes);
    const cpuPerPush = Object.fromEntries(
      Object.keys(pids).map((name) => [name, perPush(spent(name))]),
    );
    return {
      ...{ tenths, crashes: [...cluster.crashes], pushes, exitCode, summary },
      elapsed: performance.now() - from,
      cpuPerPush: { ...cpuPerPush, matterctl: perPush(ownCpu) },
    };
  } finally {
    clearInterval(look);
  }
}

function pidsOf({ webs, workers, mongo, redis }: Cluster): Record<string, number> {
  const members = [...webs, ...workers, ...mongo.members, redis];
  return Object.fromEntries(members.map((member) => [member.name, Number(member.pid())]));
}

interface Command {
  readonly pid: number | undefined;
  readonly exitCode: number | null;
  readonly ended: Promise<{ exitCode: number; summary: unknown }>;
}

function startMatterctl(cluster: Cluster, { root, folder, file, how, signal }: FileRun): Command {
  const [client] = cluster.clients;
  const [web] = cluster.webs;
  if (!client || !web) throw new Error('the cluster has no clients, or no web process');
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, client.secret, { mode: 0o600 });
  const args = [
    ...[join(root, 'dist/tools/matterctl/matterctl.js'), 'push', file, '--json'],
    ...['--client-id', client.clientId, '--secret-file', secretFile, '--url', web.url, ...how],
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], signal });
  const printed: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  const ended = once(child, 'close').then(([code]: (number | null)[]) => {
    const text = printed.join('');
    return { exitCode: code ?? -1, summary: text === '' ? undefined : JSON.parse(text) };
  });
  // The caller awaits `ended` and gets the error there.
  ended.catch(() => undefined);
  return {
    pid: child.pid,
    ended,
    get exitCode() {
      return child.exitCode;
    },
  };
}

/** Milliseconds between two counts of the pushes in the log. */
const LOOK = 100;

/** A tenth ends when the log contains its share of the pushes, or when the command ends. */
async function watchTenths(
  cluster: Cluster,
  command: Command,
  { pushes, say }: FileRun,
): Promise<Tenth[]> {
  const log = nativeCollection(entryModel(cluster.db));
  const tenths: Tenth[] = [];
  let done = 0;
  let from = performance.now();
  for (let number = 1; number <= TENTHS; number += 1) {
    const sampling = startSampling(cluster, command.pid);
    try {
      const due = (number * pushes) / TENTHS;
      let count = await log.estimatedDocumentCount();
      while (count < due && command.exitCode === null) {
        // The first tenth begins with the first push, because the command reads the whole file before.
        if (count === 0) from = performance.now();
        await sleep(LOOK);
        count = await log.estimatedDocumentCount();
      }
      const now = performance.now();
      const perSecond = ((count - done) * 1_000) / Math.max(1, now - from);
      [done, from] = [count, now];
      const memory = Object.fromEntries(await sampling.stop());
      const signatures = await signatureBytes(cluster);
      tenths.push({ perSecond, memory, signatures, others: {} });
      say(`${number} of ${TENTHS} tenths: ${perSecond.toFixed(0)}/s`);
    } finally {
      await sampling.stop();
    }
  }
  return tenths;
}
