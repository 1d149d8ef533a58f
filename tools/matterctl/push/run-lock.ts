/** One run at a time on a file: two would send its lines twice, out of order, and share a checkpoint. */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { CommandFailure } from '../failure';
import { zonedTime } from '../local-time';
import { printable } from '../print';

const HOLDER = z.object({
  pid: z.number().int().positive(),
  /** When the process began, by its system; null: the system does not tell. A pid is given anew. */
  started: z.string().nullable(),
  host: z.string(),
  /** ISO-8601, UTC. */
  since: z.iso.datetime(),
  /** Of this very run: one process may hold several files. */
  run: z.string(),
});
type Holder = z.infer<typeof HOLDER>;

export interface RunLock {
  /** Shows other hosts that the run lives; to be called every few seconds. */
  renew(): void;
  release(): void;
}

/** Milliseconds. A run on another host, whose process cannot be looked at, is dead after so long a silence. */
const SILENCE = 60_000;
/** Milliseconds in which another process that found the same dead run would have taken its place. */
const RACE = 50;

/**
 * Takes over the lock of a process that is dead.
 *
 * @param path of the lock, beside the checkpoint
 * @param timeZone in which a message names the time
 * @throws CommandFailure naming the process that has it
 */
export async function lockRun(path: string, timeZone: string): Promise<RunLock> {
  const mine: Holder = {
    pid: process.pid,
    started: startOf(process.pid),
    host: hostname(),
    since: new Date().toISOString(),
    run: randomBytes(9).toString('base64url'),
  };
  if (!create(path, mine)) {
    throwIfAlive(path, timeZone);
    // Away under another name: what somebody else has put there meanwhile is not taken for the dead one's.
    renameSync(path, `${path}.${mine.run}`);
    rmSync(`${path}.${mine.run}`);
    if (!create(path, mine)) throwIfAlive(path, timeZone);
    await sleep(RACE);
  }
  if (read(path)?.run !== mine.run) throwIfAlive(path, timeZone);
  const isMine = () => read(path)?.run === mine.run;
  return {
    renew: () => {
      if (isMine()) utimesSync(path, new Date(), new Date());
    },
    release: () => {
      if (isMine()) rmSync(path, { force: true });
    },
  };
}

function create(path: string, holder: Holder): boolean {
  try {
    writeFileSync(path, `${JSON.stringify(holder)}\n`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** @throws CommandFailure */
function throwIfAlive(path: string, timeZone: string): void {
  const holder = read(path);
  if (!holder || !isAlive(holder, path)) return;
  const { pid, host, since } = holder;
  const where = host === hostname() ? '' : ` on ${printable(host)}`;
  throw new CommandFailure(
    `process ${pid}${where} has been pushing this file since ${zonedTime(since, timeZone)}: wait for it or end it (${path})`,
  );
}

/** @returns undefined where there is none, or where it cannot be read: nobody is known to hold it */
function read(path: string): Holder | undefined {
  try {
    return HOLDER.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    // Gone meanwhile, or half written by a process that was killed.
    return undefined;
  }
}

function isAlive({ pid, started, host }: Holder, path: string): boolean {
  if (host !== hostname()) return Date.now() - statSync(path).mtimeMs < SILENCE;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is another user's.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return started === null || startOf(pid) === started;
}

/** Clock ticks since the system began, as Linux has it in /proc; null elsewhere. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program may hold blanks and brackets; the 20th field behind it is the time.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    // Not Linux, or the process is gone.
    return null;
  }
}
