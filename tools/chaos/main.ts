/** `npm run chaos`: tests whether the service keeps its promises under faults and load. If not, the exit code is 1. */
import { join } from 'node:path';
import { type BenchReport, loadReport } from '../harness/report';
import type { RunContext } from '../local/run-context';
import { untilStopped } from '../local/stop-request';
import { cutOffReport, measureCutOff } from './cut-off';
import { runDirected } from './directed';
import { FAULT_KINDS, KINDS_OF_GROUP } from './history';
import { HELP, type Mode, type Options, readOptions, UsageError } from './options';
import { measureOverload } from './overload';
import { measureRecovery, recoveryReport } from './recovery';
import { brokenReport, faultsReport } from './report';
import { runChaos } from './run';

/** Dependencies of a mode. */
interface ModeContext {
  /** The project's folder. */
  readonly root: string;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

const MODES: Readonly<
  Record<Exclude<Mode, 'help'>, (options: Options, context: ModeContext) => Promise<BenchReport>>
> = {
  faults: async (options, context) => {
    const { broken, pace, rejectsKillSessions, redisForm } = options;
    if (broken) return brokenReport(broken, await runDirected({ mechanism: broken, ...context }));
    context.say(`Seed ${options.seed}: --seed ${options.seed} repeats the faults of this run`);
    // If the database always rejects killSessions, a fault that does so is useless.
    const possible = redisForm === 'single' ? FAULT_KINDS : KINDS_OF_GROUP;
    const kinds = possible.filter((kind) => !(rejectsKillSessions && kind === 'reject-sessions'));
    const mix = { kinds, pace };
    return faultsReport(options, await runChaos({ ...options, mix, ...context }));
  },
  recovery: async (options, context) =>
    recoveryReport(await measureRecovery({ ...options, ...context })),
  'cut-off': async (options, context) =>
    cutOffReport(await measureCutOff({ ...options, ...context })),
  overload: async ({ quick }, context) => {
    const measured = await measureOverload({ quick, ...context });
    // A quick measurement shows that the tool works. Its results are not kept.
    return loadReport(
      measured,
      quick ? undefined : join(context.root, 'tools/chaos/results/overload.json'),
    );
  },
};

/** @returns the exit code: 1 if a promise was broken or the run failed */
export async function run({ root, args, say }: RunContext): Promise<number> {
  try {
    const options = readOptions(args);
    if (options.mode === 'help') {
      process.stdout.write(HELP);
      return 0;
    }
    const { mode, json } = options;
    // With --json, stdout contains only the report.
    const log = json ? (text: string) => void process.stderr.write(`${text}\n`) : say;
    return await untilStopped(process.env, async (signal) => {
      const { passed, summary, text } = await MODES[mode](options, { root, say: log, signal });
      process.stdout.write(`${json ? JSON.stringify(summary) : text}\n`);
      return passed ? 0 : 1;
    });
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(`\n${isUsage ? `${error.message}\n\n${HELP}` : stackOf(error)}\n`);
    return 1;
  }
}

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));
