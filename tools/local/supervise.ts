import { setTimeout as sleep } from 'node:timers/promises';

/** Anything that runs and may end by itself. */
export interface Supervisable {
  exited: Promise<string>;
  logFile?: string;
  stop(): Promise<void>;
}

export interface Supervised<T> {
  /** The one that runs now, or ran last. */
  current(): T;
  stop(): Promise<void>;
}

export interface SuperviseOptions<T> {
  name: string;
  /** Starts it and resolves once it serves. `previous` is absent the first time. */
  launch(previous: T | undefined, signal: AbortSignal): Promise<T>;
  tell(text: string): void;
  /** Called once, when it crashed so often that restarting is no remedy. */
  giveUp(error: Error): void;
  now?(): number;
}

const WINDOW_MS = 60_000;
const MOST_CRASHES = 3; // restarted three times within the window; the fourth is the end
const FIRST_PAUSE_MS = 100;

/** Starts something and keeps it running: restarts after a crash, until crashes pile up. */
export async function supervise<T extends Supervisable>(
  options: SuperviseOptions<T>,
  signal: AbortSignal,
): Promise<Supervised<T>> {
  const { name, launch, tell, giveUp, now = Date.now } = options;
  const stopping = new AbortController();
  const either = AbortSignal.any([signal, stopping.signal]);
  let current = await launch(undefined, either);
  let crashes: number[] = [];

  /** Whether it may be started once more. */
  const mayRestart = (why: string): boolean => {
    crashes = [...crashes.filter((at) => at > now() - WINDOW_MS), now()];
    const log = current.logFile ? `; its log is ${current.logFile}` : '';
    if (crashes.length <= MOST_CRASHES) {
      tell(`${name} ended with ${why}, starting it again${log}`);
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
        tell(`${name} runs again`);
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
      await watching; // a launch under way ends itself before its watch does
    },
  };
}
