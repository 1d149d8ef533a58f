/** A lock for a file: two runs at the same time would send its lines twice, out of order, and share a checkpoint. */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { CommandFailure } from '../failure';
import { zonedTime } from '../local-time';
import { printable } from '../print';

const LOCK_OWNER = z.object({
  pid: z.number().int().positive(),
  /** Start of the process by its system, because a system reuses pids; null if it is unknown. */
  started: z.string().nullable(),
  host: z.string(),
  /** ISO-8601, UTC. */
  since: z.iso.datetime(),
  /** Identifies the run, because one process may have locked several files. */
  run: z.string(),
});
type LockOwner = z.infer<typeof LOCK_OWNER>;

export interface RunLock {
  /** Shows other hosts that the run is alive. Call it every few seconds. */
  renew(): void;
  release(): void;
}

/** Milliseconds without `renew` after which a run on another host counts as dead. Its process cannot be checked. */
const LOCK_TIMEOUT = 60_000;
/** Milliseconds in which another process that found the same dead run would have replaced this lock. */
const RACE = 50;

/**
 * Creates the lock, or takes over the lock of a dead process.
 *
 * @param path path of the lock, beside the checkpoint
 * @param timeZone time zone of times in messages
 * @throws CommandFailure that names the process, if a living process has the lock
 */
export async function lockRun(path: string, timeZone: string): Promise<RunLock> {
  const mine: LockOwner = {
    pid: process.pid,
    started: startOf(process.pid),
    host: hostname(),
    since: new Date().toISOString(),
    run: randomBytes(9).toString('base64url'),
  };
  if (!create(path, mine)) {
    throwIfLocked(path, timeZone);
    // Renaming before removing: it affects only one file, so two processes cannot both remove the lock of the dead run
    // and then the new lock of the other.
    renameSync(path, `${path}.${mine.run}`);
    rmSync(`${path}.${mine.run}`);
    if (!create(path, mine)) throwIfLocked(path, timeZone);
    await sleep(RACE);
  }
  if (read(path)?.run !== mine.run) throwIfLocked(path, timeZone);
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

function create(path: string, owner: LockOwner): boolean {
  try {
    writeFileSync(path, `${JSON.stringify(owner)}\n`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** @throws CommandFailure */
function throwIfLocked(path: string, timeZone: string): void {
  const owner = read(path);
  if (!owner || !isAlive(owner, path)) return;
  const { pid, host, since } = owner;
  const where = host === hostname() ? '' : ` on ${printable(host)}`;
  throw new CommandFailure(
    `process ${pid}${where} has been pushing this file since ${zonedTime(since, timeZone)}: wait for it or end it (${path})`,
  );
}

/** @returns undefined if there is no lock, or if it cannot be read, so that no owner is known */
function read(path: string): LockOwner | undefined {
  try {
    return LOCK_OWNER.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    // The lock was removed meanwhile, or a killed process has written only half of it.
    return undefined;
  }
}

function isAlive({ pid, started, host }: LockOwner, path: string): boolean {
  if (host !== hostname()) return Date.now() - statSync(path).mtimeMs < LOCK_TIMEOUT;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is alive and belongs to another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return started === null || startOf(pid) === started;
}

/** The start of a process in clock ticks since the start of the system, from /proc on Linux; null on other systems. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program may contain blanks and brackets. The 20th field after it is the start.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    // Not Linux, or the process has ended.
    return null;
  }
}
