/** matterctl in this process, with what it prints caught. */
import { PassThrough, Readable } from 'node:stream';
import { runMatterctl } from '../../tools/matterctl/program';
import { createSettings } from '../../tools/matterctl/settings';
import { sink } from './sink';

export interface CliRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliContext {
  readonly env?: Record<string, string | undefined>;
  readonly cwd?: string;
  readonly stdin?: string;
}

/** Without lines of progress, which are printed only where a run takes seconds. */
export const withoutProgress = (run: CliRun): CliRun => ({
  ...run,
  stderr: run.stderr.replace(/^\d+(\/\d+)? (matters|lines|pushes|documents|found), .*\n/gm, ''),
});

/** Runs one command line; the environment is only what is given. */
export async function matterctl(
  args: readonly string[],
  { env = {}, cwd = '/', stdin }: CliContext = {},
): Promise<CliRun> {
  const [stdout, stderr] = [sink(), sink()];
  const exitCode = await runMatterctl(args, {
    settings: createSettings(env, cwd),
    stdin: stdin === undefined ? new PassThrough() : Readable.from([Buffer.from(stdin)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}
