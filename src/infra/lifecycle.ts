/** Starts a process, and stops the process on a signal. */
import { withTimeout } from '../concurrency/timing';
import type { Logger } from './logger';
import { outagesOf, SERVERS } from './outages';

export interface Lifecycle {
  /** Registers the release of a resource. A failed or slow release does not change the exit code. */
  onStop(name: string, release: StopStep): void;
  /** Registers a step that finishes accepted work or writes buffered data. */
  onDrain(name: string, drain: StopStep): void;
  /** Registers `component.stop` as a release. */
  run<T extends Stoppable>(name: string, component: T): T;
  isStopping(): boolean;
  /** Runs the registered steps in reverse order. Returns the exit code of the process. */
  stop(reason: string): Promise<number>;
}

export interface Stoppable {
  stop(): Promise<unknown> | unknown;
}

export type StopStep = () => Promise<unknown> | unknown;

interface Step {
  readonly name: string;
  readonly stop: StopStep;
  readonly isDrain: boolean;
}

/** Maximum milliseconds for all releases together. The time of drain steps does not count. */
const CLEAN_UP_TIME = 3_000;
/** Each release gets at least this many milliseconds, even if CLEAN_UP_TIME is used up. */
const MIN_STEP_TIME = 50;

class StepTimeout extends Error {}

/** @param timeout maximum milliseconds of `stop` */
export function createLifecycle(logger: Logger, timeout: number): Lifecycle {
  const steps: Step[] = [];
  const outages = outagesOf(logger);
  const isServerUnavailable = () => SERVERS.some((server) => outages.isUnavailable(server));
  let ending: Promise<number> | undefined;

  /** @returns false if the process must end with exit code 1 */
  const runStep = async ({ name, stop, isDrain }: Step, limit: number): Promise<boolean> => {
    const call = (async () => stop())();
    try {
      await (isDrain ? call : withTimeout(call, limit, () => new StepTimeout()));
      return true;
    } catch (error) {
      if (error instanceof StepTimeout) {
        logger.warn({ step: name }, 'a stop step takes too long, continuing without it');
        return true;
      }
      const level = isServerUnavailable() ? 'warn' : 'error';
      logger[level]({ step: name, error: String(error) }, 'a stop step failed');
      return level === 'warn' || !isDrain;
    }
  };
  const runAll = async (): Promise<number> => {
    let exitCode = 0;
    let left = CLEAN_UP_TIME;
    for (const step of steps.reverse()) {
      const began = performance.now();
      if (!(await runStep(step, Math.max(MIN_STEP_TIME, left)))) exitCode = 1;
      if (!step.isDrain) left -= performance.now() - began;
    }
    logger.info({ exitCode }, 'stopped');
    return exitCode;
  };

  const stopAll = (reason: string) =>
    new Promise<number>((resolve) => {
      logger.info({ reason }, 'draining');
      const deadline = setTimeout(() => {
        logger.error({ timeout }, 'the shutdown took too long');
        resolve(1);
      }, timeout);
      deadline.unref();
      void runAll().then((exitCode) => {
        clearTimeout(deadline);
        resolve(exitCode);
      });
    });

  return {
    onStop: (name, release) => void steps.push({ name, stop: release, isDrain: false }),
    onDrain: (name, drain) => void steps.push({ name, stop: drain, isDrain: true }),
    run: (name, component) => {
      steps.push({ name, stop: () => component.stop(), isDrain: false });
      return component;
    },
    isStopping: () => ending !== undefined,
    stop: (reason) => {
      ending ??= stopAll(reason);
      return ending;
    },
  };
}

/**
 * Under npm, Ctrl-C can cause two signals. The second signal must have no effect.
 *
 * @param flush writes buffered log lines; must end soon
 */
export function exitOnSignals(lifecycle: Lifecycle, flush: () => Promise<void>): void {
  const end = async (reason: string) => {
    const exitCode = await lifecycle.stop(reason);
    await flush();
    process.exit(exitCode);
  };
  process.on('SIGTERM', () => void end('SIGTERM'));
  process.on('SIGINT', () => void end('SIGINT'));
  process.on('disconnect', () => void end('the parent process has ended'));
}

/** Reports to the parent process that this process is ready. */
export function announceReady(details: Record<string, unknown>): void {
  process.send?.({ ready: true, ...details });
}

export function runMain(main: () => Promise<unknown>): void {
  main().catch((error: Error) => {
    const expected = error.name === 'ConfigError' || error.name === 'DatabaseSetupError';
    process.stderr.write(`${expected ? error.message : (error.stack ?? String(error))}\n`);
    process.exit(1);
  });
}
