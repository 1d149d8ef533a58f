/** How a process starts and ends: releasers undone last-in-first-out, within a hard deadline. */
import type { Logger } from './logger';

export interface Lifecycle {
  /** Registers what undoes the step that just succeeded. */
  onStop(name: string, release: () => Promise<unknown> | unknown): void;
  isStopping(): boolean;
  /**
   * Releases everything; a second call waits for the first.
   * @returns the exit code: 0, or 1 if a step failed or the deadline passed
   */
  stop(reason: string): Promise<number>;
}

/** @param timeout hard deadline of the drain, milliseconds */
export function createLifecycle(logger: Logger, timeout: number): Lifecycle {
  const releasers: { name: string; release: () => Promise<unknown> | unknown }[] = [];
  let ending: Promise<number> | undefined;

  const releaseAll = async (): Promise<number> => {
    let exitCode = 0;
    for (const { name, release } of releasers.reverse()) {
      try {
        await release();
      } catch (error) {
        exitCode = 1;
        logger.error({ step: name, error: String(error) }, 'a step of the drain failed');
      }
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
    onStop: (name, release) => void releasers.push({ name, release }),
    isStopping: () => ending !== undefined,
    stop: (reason) => {
      ending ??= drain(reason);
      return ending;
    },
  };
}

/**
 * Drains and exits on SIGTERM, SIGINT and when the supervisor's channel closes. A second signal does not
 * cut the drain short: Ctrl-C arrives twice under npm.
 */
export function exitOnSignals(lifecycle: Lifecycle): void {
  const end = (reason: string) =>
    void lifecycle.stop(reason).then((exitCode) => process.exit(exitCode));
  process.on('SIGTERM', () => end('SIGTERM'));
  process.on('SIGINT', () => end('SIGINT'));
  process.on('disconnect', () => end('supervisor is gone'));
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
