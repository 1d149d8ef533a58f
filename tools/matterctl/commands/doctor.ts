import type { Command } from 'commander';
import { readSecretFile } from '../client-secret';
import type { Check } from '../doctor/check';
import { CommandFailure } from '../failure';
import { exitCodeOf, listenForInterrupt } from '../interrupt';
import { withJson, withSigner } from '../option-values';
import { note, printJson, printLine } from '../print';
import type { Tool } from '../tool';

interface Options {
  readonly url?: string;
  readonly clientId: string;
  readonly secretFile: string;
  readonly json?: boolean;
}

const ABOUT = `
The checks, in this order: the service answers; the clocks agree; the headers arrive; the secret is correct; the
client may push; database and queue of the service are ready; the body arrives byte for byte; and a round trip
with a matter that no user sees and that the command deletes again. The command needs only the URL. Run it on
the machine of the business system.

Ctrl-C during the round trip deletes this matter first. A second Ctrl-C ends the command at once.

Exit code: 0 all checks passed, 1 a check failed, 2 wrong usage, 130 interrupted.`;

/** `doctor` finds out why pushes of a client fail. It runs on the machine of the client. */
export function addDoctor(parent: Command, tool: Tool): void {
  const command = parent
    .command('doctor')
    .description(
      'check the path from a client to the service: network, clock, headers, secret, body',
    )
    .addHelpText('after', ABOUT);
  withJson(
    withSigner(command, { client: 'the client that pushes' }),
    'print JSON instead of lines',
  ).action((options: Options) => examineAll(options, tool));
}

async function examineAll(options: Options, tool: Tool): Promise<void> {
  const { settings, stdout, stderr } = tool;
  const { clientId, secretFile, json, url = settings.serviceUrl() } = options;
  const secret = await readSecretFile(secretFile);
  const { examine } = await import('../doctor/examine.js');
  const checks: Check[] = [];
  const [stop, cut] = [new AbortController(), new AbortController()];
  const interrupt = listenForInterrupt(
    () => {
      note(stderr, 'Stopping: what was pushed is deleted first; Ctrl-C again ends at once.');
      stop.abort();
    },
    () => cut.abort(),
  );
  try {
    const until = { stop: stop.signal, cut: cut.signal };
    for await (const check of examine({ url, clientId, secret, ...until })) {
      checks.push(check);
      if (!json) await printCheck(check);
    }
  } finally {
    interrupt.dispose();
  }
  const signal = interrupt.signal();
  const failures = checks.filter(({ status }) => status === 'failed').length;
  if (json) await printJson(stdout, { ok: failures === 0 && !signal, checks });
  if (signal) throw new CommandFailure('interrupted', exitCodeOf(signal));
  if (failures > 0) throw new CommandFailure(`${failures} of ${checks.length} checks failed`);

  async function printCheck({ check, status, detail, fix }: Check): Promise<void> {
    const line = [status.padEnd(7), check.padEnd(10), detail].join('  ');
    await printLine(stdout, line);
    if (fix !== undefined) await printLine(stdout, `${' '.repeat(21)}fix: ${fix}`);
  }
}
