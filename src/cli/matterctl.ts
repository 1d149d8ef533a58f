#!/usr/bin/env node
/** The operator's tool: `matterctl --help`. */
import { runMatterctl } from './program';
import { processSettings } from './settings';

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

async function main(): Promise<void> {
  const { argv, stdin, stdout, stderr } = process;
  const tool = { settings: processSettings(), stdin, stdout, stderr };
  process.exitCode = await runMatterctl(argv.slice(2), tool);
}

void main();
