import type { Command } from 'commander';
import { systemClock } from '../../../src/concurrency/timing';
import type { Resealed } from '../../../src/storage/directory';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { CommandFailure } from '../failure';
import { withOperator } from '../option-values';
import { printJson, printLines } from '../print';
import { showProgress } from '../progress';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

const ABOUT = `
To change the master key without a pause:
  1. add the new key to SECRET_KEYS of every process, after the old key, and restart the processes
  2. move the new key to the first place in every process, and restart them
  3. run this command with the same SECRET_KEYS
  4. remove the old key, and restart the processes
The clients keep their secrets. The command also re-encrypts expired secrets if it has their key: the diagnosis
of a rejected signature uses them to recognize a retired secret.

Exit code: 0 every usable secret is encrypted with the first key, 1 some are not, or the command failed.`;

/** `client reseal` encrypts all secrets with the first key of SECRET_KEYS. */
export function addClientReseal(parent: Command, tool: Tool): void {
  const command = parent
    .command('reseal')
    .description('encrypt all client secrets with the first key of SECRET_KEYS; safe to repeat')
    .addHelpText('after', ABOUT);
  withOperator(command).action((options: ChangeOptions) => reseal(options, tool));
}

async function reseal(options: ChangeOptions, tool: Tool): Promise<void> {
  const keyRing = createKeyRing(tool.settings.secretKeys());
  const details = { keyId: keyRing.sealingKey };
  const change = { command: 'client reseal', subject: null, details };
  const { resealSecrets } = await import('../../../src/storage/directory.js');
  await withTrail(tool, options, change, async (connection, recordResult) => {
    let progress = { resealed: 0, total: 0 };
    const hideProgress = showProgress({
      stderr: tool.stderr,
      total: undefined,
      things: 'secrets',
      state: () => ({ done: progress.resealed, note: `of ${progress.total}` }),
    });
    const run = resealSecrets(connection, { keyRing, clock: systemClock }, (reached) => {
      progress = reached;
    });
    const resealed = await run.finally(hideProgress);
    recordResult({ ...resealed });
    if (options.json) await printJson(tool.stdout, resealed);
    else await printLines(tool.stdout, describe(resealed));
    checkLeft(resealed);
  });
}

function describe({ keyId, resealed, left }: Resealed): string[] {
  const lines = Object.entries(left).map(([key, count]) => `${count} left under ${key}`);
  const rest = lines.length > 0 ? lines : ['none left under another key'];
  return [`${resealed} secrets put under ${keyId}`, ...rest];
}

function checkLeft({ keyId, left }: Resealed): void {
  const keys = Object.keys(left).join(', ');
  if (keys === '') return;
  throw new CommandFailure(
    `secrets are left under ${keys}: that key must be in SECRET_KEYS here, and ${keyId} must be the first one in every process; then run it again`,
  );
}
