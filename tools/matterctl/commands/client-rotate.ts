import type { Command } from 'commander';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { keepSecret, type SecretOutOptions, withSecretOut } from '../client-secret';
import { zonedTime } from '../local-time';
import { toSpan, withOperator } from '../option-values';
import { note, printFields, printJson } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

interface Options extends ChangeOptions, SecretOutOptions {
  /** Milliseconds. */
  readonly overlap: number;
}

const DAY = 86_400_000;

/** `client rotate` creates a new secret. The old one stays valid for some time, and the command prints its last use. */
export function addClientRotate(parent: Command, tool: Tool): void {
  const command = parent
    .command('rotate')
    .description('give a client a new secret and print it, once')
    .argument('<clientId>')
    .option(
      '--overlap <span>',
      'how long the old secret keeps working, e.g. 30m, 24h, 0s (default: 24h)',
      toSpan,
    );
  withOperator(withSecretOut(command)).action((clientId: string, options: Partial<Options>) =>
    rotate(clientId, { overlap: DAY, ...options }, tool),
  );
}

async function rotate(clientId: string, options: Options, tool: Tool): Promise<void> {
  const keyRing = createKeyRing(tool.settings.secretKeys());
  const details = { overlapSeconds: options.overlap / 1_000 };
  const change = { command: 'client rotate', subject: clientId, clientId, details };
  const rotateOnce = () =>
    withTrail(tool, options, change, async (connection, recordResult) => {
      const { createClientAdmin } = await import('../../../src/storage/directory.js');
      const admin = createClientAdmin(connection, keyRing, Date.now);
      const { secret, secretId, ...old } = await admin.rotate(clientId, options.overlap);
      const oldSecretEndsAt = old.oldEndsAt.toISOString();
      recordResult({ secretId, oldSecretEndsAt });
      const oldSecretLastUsedAt = old.oldLastUsedAt?.toISOString() ?? null;
      return { secret, oldSecretEndsAt, oldSecretLastUsedAt };
    });
  const { made, shown } = await keepSecret(options.secretOut, rotateOnce);
  const { oldSecretEndsAt, oldSecretLastUsedAt } = made;
  const rotated = { clientId, ...shown, oldSecretEndsAt, oldSecretLastUsedAt };
  if (options.json) await printJson(tool.stdout, rotated);
  else {
    const timeZone = tool.settings.timeZone();
    const local = (at: string | null) => at && zonedTime(at, timeZone);
    const ends = local(oldSecretEndsAt);
    const used = local(oldSecretLastUsedAt);
    const fields = { ...rotated, oldSecretEndsAt: ends, oldSecretLastUsedAt: used };
    await printFields(tool.stdout, fields);
  }
  const where = 'secret' in shown ? 'The secret is shown only now: give it' : 'Give the new secret';
  note(tool.stderr, `${where} to the client before the old one ends.`);
}
