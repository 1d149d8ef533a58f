/** How a process starts and ends: releasers undone last-in-first-out, within a hard deadline. */
import type { Logger } from './logger';

export interface Lifecycle {
  /** Registers what undoes the step that just succeeded. */
  onStop(name: string, release: () => Promise<unknown> | unknown): void;
  isStopping(): boolean;
  /** Ends the process: releases everything, exits 0 (1 where something failed or took too long). */
  stop(reason: string): void;
}

/**
 * Drains on SIGTERM, SIGINT and when the supervisor's channel closes. A second signal does not cut
 * the drain short: Ctrl-C arrives twice under npm.
 *
 * @param timeout hard deadline of the drain, milliseconds
 */
export function createLifecycle(logger: Logger, timeout: number): Lifecycle {
  const releasers: { name: string; release: () => Promise<unknown> | unknown }[] = [];
  let stopping = false;

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
    return exitCode;
  };

  const stop = (reason: string) => {
    if (stopping) return;
    stopping = true;
    logger.info({ reason }, 'draining');
    setTimeout(() => {
      logger.error({ timeout }, 'the drain took too long');
      process.exit(1);
    }, timeout).unref();
    void releaseAll().then((exitCode) => {
      logger.info({ exitCode }, 'stopped');
      process.exit(exitCode);
    });
  };

  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('disconnect', () => stop('supervisor is gone'));
  return {
    onStop: (name, release) => void releasers.push({ name, release }),
    isStopping: () => stopping,
    stop,
  };
}

/** Tells a supervisor, if there is one, that the process serves. */
export function announceReady(details: Record<string, unknown>): void {
  process.send?.({ ready: true, ...details });
}

/** Runs a process's main function; a failed start ends it at once with one clear message. */
export function runMain(main: () => Promise<void>): void {
  main().catch((error: Error) => {
    const expected = error.name === 'ConfigError' || error.name === 'DatabaseSetupError';
    process.stderr.write(`${expected ? error.message : (error.stack ?? String(error))}\n`);
    process.exit(1);
  });
}
