import type { Command } from 'commander';
import type { PauseChange } from '../../../src/storage/directory';
import { withOperator } from '../option-values';
import { printJson, printLine } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

interface Options extends ChangeOptions {
  readonly reason?: string;
}

/** `queue pause` and `queue resume` pause and resume a client. Pushes that are already queued are still applied. */
export function addQueuePause(parent: Command, tool: Tool): void {
  const pause = parent
    .command('pause')
    .description('answer the pushes of a client 503, within a second; its queries go on')
    .argument('<clientId>')
    .option('--reason <text>', 'told to the client, at most 200 characters');
  withOperator(pause).action((clientId: string, options: Options) =>
    change({ clientId, paused: true }, options, tool),
  );
  const resume = parent
    .command('resume')
    .description('take the pushes of a paused client again, within a second')
    .argument('<clientId>');
  withOperator(resume).action((clientId: string, options: ChangeOptions) =>
    change({ clientId, paused: false }, options, tool),
  );
}

async function change(
  pause: Omit<PauseChange, 'reason'>,
  options: Options,
  tool: Tool,
): Promise<void> {
  const { clientId, paused } = pause;
  const wanted = { ...pause, reason: options.reason };
  const { pauseAction, setPaused } = await import('../../../src/storage/directory.js');
  await withTrail(tool, options, pauseAction(wanted), (connection) =>
    setPaused(connection, wanted),
  );
  const effect = paused ? 'is paused: its pushes are answered 503' : 'may push';
  if (options.json) await printJson(tool.stdout, pause);
  else await printLine(tool.stdout, `client ${clientId} ${effect}`);
}
