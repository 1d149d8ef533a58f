const PARENT_POLL_MS = 500;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The wish to end, from whichever side it comes first. */
export interface StopRequest {
  signal: AbortSignal;
  /** Resolves with the reason, in words. */
  asked: Promise<string>;
  /** Asks for the end from within. Only the first reason counts. */
  ask(reason: string): void;
  /** Takes the signal handlers away again. */
  dispose(): void;
}

/**
 * Listens for signals, and under npm for npm's own end: npm cannot forward a SIGKILL. Ctrl-C
 * arrives twice there (from the terminal, and from npm), so a second signal changes nothing.
 */
export function listenForStop(env: NodeJS.ProcessEnv): StopRequest {
  const controller = new AbortController();
  let tell: (reason: string) => void = () => {};
  const asked = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const ask = (reason: string) => {
    tell(reason);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, ask);
  const parent = process.ppid;
  const underNpm = env.npm_lifecycle_event !== undefined;
  const poll = setInterval(() => {
    if (underNpm && process.ppid !== parent) ask('the end of npm');
  }, PARENT_POLL_MS).unref();
  return {
    signal: controller.signal,
    asked,
    ask,
    dispose: () => {
      clearInterval(poll);
      for (const name of SIGNALS) process.off(name, ask);
    },
  };
}

/** What shells say of a command that an interrupt ended. */
const INTERRUPTED = 130;

/**
 * Runs work that a stop request may end early.
 *
 * @param work gives its exit code; its signal is aborted on a stop request, and what it throws after
 *   that is its end
 * @returns its exit code; 130 where it was ended
 */
export async function untilStopped(
  env: NodeJS.ProcessEnv,
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const stop = listenForStop(env);
  try {
    return await work(stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    stop.dispose();
  }
}
