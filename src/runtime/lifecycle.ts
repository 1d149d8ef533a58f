/** How a process starts and ends: releasers undone last-in-first-out, within a hard deadline. */
import type { Logger } from './logger';
import { outagesOf, SERVERS } from './outages';

export interface Lifecycle {
  /**
   * Registers what undoes the step that just succeeded. All of these together get CLEAN_UP_TIME, and their failures do
   * not count: a process with nothing to finish must end soon, also if a server hangs and nobody knows it yet.
   */
  onStop(name: string, release: Release): void;
  /** Registers what finishes accepted work, or writes what would be lost: it gets all of the time. */
  onDrain(name: string, release: Release): void;
  isStopping(): boolean;
  /**
   * Releases everything; a second call waits for the first.
   * @returns the exit code: 0, or 1 if the deadline passed, or accepted work failed although no server was away
   */
  stop(reason: string): Promise<number>;
}

export type Release = () => Promise<unknown> | unknown;

interface Releaser {
  readonly name: string;
  readonly release: Release;
  readonly isDrain: boolean;
}

/** Milliseconds. */
const CLEAN_UP_TIME = 3_000;
const LOOK_EVERY = 50;

/** @param timeout hard deadline of the drain, milliseconds */
export function createLifecycle(logger: Logger, timeout: number): Lifecycle {
  const releasers: Releaser[] = [];
  const outages = outagesOf(logger);
  const isServerAway = () => SERVERS.some((server) => outages.isAway(server));
  let ending: Promise<number> | undefined;

  const releaseAll = async (): Promise<number> => {
    let exitCode = 0;
    let cleaning = 0;
    for (const { name, release, isDrain } of releasers.reverse()) {
      const began = performance.now();
      const isTooLong = () => !isDrain && cleaning + performance.now() - began > CLEAN_UP_TIME;
      try {
        const isDone = await unless(isTooLong, release);
        if (!isDone) logger.warn({ step: name }, 'a step of the stop is not waited for');
      } catch (error) {
        const level = isServerAway() ? 'warn' : 'error';
        if (level === 'error' && isDrain) exitCode = 1;
        logger[level]({ step: name, error: String(error) }, 'a step of the stop failed');
      }
      if (!isDrain) cleaning += performance.now() - began;
    }
    logger.info({ exitCode }, 'stopped');
    return exitCode;
  };

  const drain = (reason: string) =>
    new Promise<number>((resolve) => {
      logger.info({ reason }, 'draining');
      const deadline = setTimeout(() => {
        logger.error({ timeout }, 'the drain took too long');
        resolve(1);
      }, timeout);
      deadline.unref();
      void releaseAll().then((exitCode) => {
        clearTimeout(deadline);
        resolve(exitCode);
      });
    });

  return {
    onStop: (name, release) => void releasers.push({ name, release, isDrain: false }),
    onDrain: (name, release) => void releasers.push({ name, release, isDrain: true }),
    isStopping: () => ending !== undefined,
    stop: (reason) => {
      ending ??= drain(reason);
      return ending;
    },
  };
}

/** @returns whether it was done; false if it took too long, and then its end is ignored */
async function unless(isTooLong: () => boolean, release: Release): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<boolean>((resolve) => {
    timer = setInterval(() => isTooLong() && resolve(false), LOOK_EVERY);
  });
  const done = (async () => {
    await release();
    return true;
  })();
  try {
    return await Promise.race([done, tooLong]);
  } finally {
    clearInterval(timer);
    done.catch(() => undefined);
  }
}

/**
 * Drains and exits on SIGTERM, SIGINT and when the supervisor's channel closes. A second signal does not
 * cut the drain short: Ctrl-C arrives twice under npm.
 *
 * @param flush writes what waits of the log; it must end soon even if nobody reads the log
 */
export function exitOnSignals(lifecycle: Lifecycle, flush: () => Promise<void>): void {
  const end = async (reason: string) => {
    const exitCode = await lifecycle.stop(reason);
    await flush();
    process.exit(exitCode);
  };
  process.on('SIGTERM', () => void end('SIGTERM'));
  process.on('SIGINT', () => void end('SIGINT'));
  process.on('disconnect', () => void end('supervisor is gone'));
}

/** Reports to the supervisor, if there is one, that the process serves. */
export function announceReady(details: Record<string, unknown>): void {
  process.send?.({ ready: true, ...details });
}

/** Runs the main function of a process; a failed start ends the process at once with one clear message. */
export function runMain(main: () => Promise<unknown>): void {
  main().catch((error: Error) => {
    const expected = error.name === 'ConfigError' || error.name === 'DatabaseSetupError';
    process.stderr.write(`${expected ? error.message : (error.stack ?? String(error))}\n`);
    process.exit(1);
  });
}
