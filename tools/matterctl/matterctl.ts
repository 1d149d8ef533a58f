#!/usr/bin/env node
/** The operator's tool: `matterctl --help`. */
import { exitCodeOf } from './interrupt';
import { runMatterctl } from './program';
import { processSettings } from './settings';

// A reader that has seen enough (`| head`) ends it, as it ends other tools: not with 0, which would
// say that nothing differs, or that all was sent.
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
