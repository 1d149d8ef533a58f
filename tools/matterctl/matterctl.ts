#!/usr/bin/env node
/** The command `matterctl`, for operators. */
import { exitCodeOf } from './interrupt';
import { runMatterctl } from './program';
import { processSettings } from './settings';

// If the reader of the output ends (`| head`), the command ends as other tools do. Its exit code is not 0, which would
// mean that nothing differs, or that everything was sent.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodeOf('SIGPIPE'));
  throw error;
});

async function main(): Promise<void> {
  const { argv, stdin, stdout, stderr } = process;
  const tool = { settings: processSettings(), stdin, stdout, stderr };
  process.exitCode = await runMatterctl(argv.slice(2), tool);
}

void main();
