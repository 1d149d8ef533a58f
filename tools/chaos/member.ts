/** A process of the cluster, server or our own: it may be killed, and comes back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { failureWithLog } from '../local/log-file';
import type { ExitReason } from '../local/process-guard';
import { Stopped } from '../local/waiting';

export interface Member {
  /** `web-0`, `worker-1`, `redis`, `mongo`. */
  readonly name: string;
  /** Undefined while it does not run. */
  pid(): number | undefined;
  /** An end by SIGKILL or SIGTERM that was sent here is meant, and no crash. */
  kill(signal: NodeJS.Signals): void;
  /**
   * Ends it, cleanly where it still runs, and starts it again. Resolves when it serves.
   *
   * @throws Error with the end of its log where it does not: an app within a minute, a server that
   *   replays its log has longer
   */
  restart(): Promise<void>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

interface MemberOptions {
  readonly name: string;
  readonly logFile: string;
  /** Starts it and resolves once it serves; always with the same port and data. */
  launch(): Promise<Runnable>;
  /** Told of an end that nobody ordered, with the end of its log; it is started again then. */
  crashed(what: string): void;
  /** No new start after this. */
  readonly signal: AbortSignal;
}

interface Runnable {
  readonly pid?: number;
  readonly exited: Promise<ExitReason>;
  kill(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/** Milliseconds for a start: one fails where another fault keeps it from its servers. */
const START_TIMEOUT = 60_000;
const BETWEEN_STARTS = 300;

/** Starts it; @throws where its first start fails */
export async function startMember(options: MemberOptions): Promise<Member> {
  const { name, logFile, launch, crashed, signal } = options;
  let running: Runnable | undefined;
  let meant = false;
  let coming: Promise<void> | undefined;

  const watch = (next: Runnable) => {
    running = next;
    meant = false;
    void next.exited.then((how) => {
      running = undefined;
      if (meant || signal.aborted) return;
      crashed(failureWithLog(`${name} ended with ${how}`, logFile).message);
      comeBack().catch((error) => crashed(String(error)));
    });
  };
  const comeBack = (): Promise<void> => {
    coming ??= launchPatiently(launch, signal)
      .then(watch)
      .finally(() => {
        coming = undefined;
      });
    return coming;
  };
  watch(await launch());

  const end = async () => {
    meant = true;
    // A stopped process does not hear a SIGTERM.
    running?.kill('SIGCONT');
    await running?.stop();
  };
  return {
    name,
    pid: () => running?.pid,
    kill: (which) => {
      meant ||= which === 'SIGKILL' || which === 'SIGTERM';
      running?.kill(which);
    },
    restart: async () => {
      if (!coming) await end();
      await comeBack();
    },
    stop: async () => {
      await coming?.catch(() => undefined);
      await end();
    },
  };
}

async function launchPatiently(
  launch: () => Promise<Runnable>,
  signal: AbortSignal,
): Promise<Runnable> {
  const until = performance.now() + START_TIMEOUT;
  for (;;) {
    if (signal.aborted) throw new Stopped();
    try {
      return await launch();
    } catch (error) {
      if (signal.aborted || performance.now() > until) throw error;
      await sleep(BETWEEN_STARTS);
    }
  }
}
