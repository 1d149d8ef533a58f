import { type Command, Option } from 'commander';
import { RATE_BOUNDS, type RateOverride } from '../../../src/storage/directory/rate-override';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { usageFailure } from '../failure';
import { wholeNumber, withOperator } from '../option-values';
import { printJson, printLine } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

interface Options extends ChangeOptions {
  readonly rate?: number;
  readonly burst?: number;
  readonly default?: boolean;
}

/** `client limit` sets a rate for one client, which overrides RATE_LIMIT and RATE_BURST. */
export function addClientLimit(parent: Command, tool: Tool): void {
  const command = parent
    .command('limit')
    .description('give a client a rate of its own, within a second; what is not given stays')
    .argument('<clientId>')
    .option('--rate <n>', 'pushes per second; 0: no limit', wholeNumber(...RATE_BOUNDS.rate))
    .option('--burst <n>', 'pushes at once above it', wholeNumber(...RATE_BOUNDS.burst))
    .addOption(
      new Option('--default', 'RATE_LIMIT and RATE_BURST again').conflicts(['rate', 'burst']),
    );
  withOperator(command).action((clientId: string, options: Options) =>
    limitClient(clientId, options, tool),
  );
}

async function limitClient(clientId: string, options: Options, tool: Tool): Promise<void> {
  const { rate, burst } = options;
  if (!options.default && rate === undefined && burst === undefined) {
    throw usageFailure('give --rate, --burst or --default');
  }
  const details = { rate, burst, default: options.default };
  const change = { command: 'client limit', subject: clientId, clientId, details };
  const limit = await withTrail(tool, options, change, async (connection, recordResult) => {
    const { createClientAdmin } = await import('../../../src/storage/directory.js');
    const admin = createClientAdmin(connection, createKeyRing([]), Date.now);
    const now = await admin.setLimit(clientId, options.default ? null : { rate, burst });
    recordResult({ limit: now });
    return now;
  });
  if (options.json) await printJson(tool.stdout, { clientId, limit });
  else await printLine(tool.stdout, `limit of client ${clientId}: ${limitText(limit)}`);
}

/** The text for the rate of a client. */
export function limitText(limit: RateOverride | null): string {
  if (!limit) return 'default';
  const { rate = 'default', burst = 'default' } = limit;
  return rate === 0 ? 'none' : `rate ${rate}, burst ${burst}`;
}
