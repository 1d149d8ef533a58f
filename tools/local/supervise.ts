import { setTimeout as sleep } from 'node:timers/promises';

/** A process or server that may end unexpectedly. */
export interface Supervisable {
  exited: Promise<string>;
  logFile?: string;
  stop(): Promise<void>;
}

export interface Supervised<T> {
  /** The current or last process. */
  current(): T;
  stop(): Promise<void>;
}

export interface SuperviseOptions<T> {
  name: string;
  /**
   * Starts the process and resolves when it is ready. `previous` is the crashed process; undefined at the first start.
   */
  launch(previous: T | undefined, signal: AbortSignal): Promise<T>;
  say(text: string): void;
  /** Called once, after too many crashes. */
  giveUp(error: Error): void;
  now?(): number;
}

const WINDOW_MS = 60_000;
const MAX_RESTARTS = 3; // Maximum restarts within the window. After the next crash, `supervise` gives up.
const FIRST_PAUSE_MS = 100;

/** Starts a process and starts it again after a crash, until it has crashed too often. */
export async function supervise<T extends Supervisable>(
  options: SuperviseOptions<T>,
  signal: AbortSignal,
): Promise<Supervised<T>> {
  const { name, launch, say, giveUp, now = Date.now } = options;
  const stopping = new AbortController();
  const either = AbortSignal.any([signal, stopping.signal]);
  let current = await launch(undefined, either);
  let crashes: number[] = [];

  /** Counts a crash. @returns whether the process may be started again */
  const mayRestart = (why: string): boolean => {
    crashes = [...crashes.filter((at) => at > now() - WINDOW_MS), now()];
    const log = current.logFile ? `; its log is ${current.logFile}` : '';
    if (crashes.length <= MAX_RESTARTS) {
      say(`${name} ended with ${why}, starting it again${log}`);
      return true;
    }
    giveUp(new Error(`${name} crashed ${crashes.length} times within a minute${log}`));
    return false;
  };

  const watch = async (): Promise<void> => {
    let why = await current.exited;
    while (!either.aborted && mayRestart(why)) {
      await sleep(FIRST_PAUSE_MS * 2 ** (crashes.length - 1));
      if (either.aborted) return;
      try {
        current = await launch(current, either);
        say(`${name} runs again`);
        why = await current.exited;
      } catch (error) {
        why = error instanceof Error ? error.message : String(error);
      }
    }
  };
  const watching = watch();

  return {
    current: () => current,
    stop: async () => {
      stopping.abort();
      await current.stop();
      await watching; // Waits until a running launch has ended too.
    },
  };
}
