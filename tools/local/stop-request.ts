const PARENT_POLL_MS = 500;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The request to stop, by a signal, by the end of npm, or by the program itself. */
export interface StopRequest {
  signal: AbortSignal;
  /** Resolves with the reason of the stop, in words. */
  requested: Promise<string>;
  /** Requests the stop. Only the first reason counts. */
  request(reason: string): void;
  /** Removes the signal handlers. */
  dispose(): void;
}

/**
 * Listens for signals and, under npm, for the end of npm, because npm cannot forward a SIGKILL. Under npm, Ctrl-C
 * arrives twice, from the terminal and from npm, so a second signal has no effect.
 */
export function listenForStop(env: NodeJS.ProcessEnv): StopRequest {
  const controller = new AbortController();
  let resolveReason: (reason: string) => void = () => {};
  const requested = new Promise<string>((resolve) => {
    resolveReason = resolve;
  });
  const request = (reason: string) => {
    resolveReason(reason);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, request);
  const parent = process.ppid;
  const underNpm = env.npm_lifecycle_event !== undefined;
  const poll = setInterval(() => {
    if (underNpm && process.ppid !== parent) request('the end of npm');
  }, PARENT_POLL_MS).unref();
  return {
    signal: controller.signal,
    requested,
    request,
    dispose: () => {
      clearInterval(poll);
      for (const name of SIGNALS) process.off(name, request);
    },
  };
}

/** The exit code that shells use for a command that Ctrl-C has ended. */
const INTERRUPTED = 130;

/**
 * Runs work that a stop request may end early.
 *
 * @param work returns its exit code. A stop request aborts its signal; an error after that counts as its end
 * @returns the exit code of the work; 130 if the stop request has ended it
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
