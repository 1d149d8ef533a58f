import type { Command } from 'commander';
import type { MatterView } from '../../contract/matter-view';
import { createMatterReader } from '../../ledger/matter-reader';
import { toMatterView } from '../../portal/matter-view';
import { CommandFailure } from '../failure';
import { withDatabase } from '../option-values';
import { printFields, printJson } from '../print';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';

/** `matter get`; a deleted matter is shown too, it says so. */
export function addMatterGet(parent: Command, tool: Tool): void {
  const command = parent
    .command('get')
    .description('show one matter')
    .argument('<systemCode>')
    .argument('<externalId>');
  withDatabase(command).action((systemCode: string, externalId: string, options: DatabaseOptions) =>
    getMatter({ systemCode, externalId }, options, tool),
  );
}

async function getMatter(
  key: { readonly systemCode: string; readonly externalId: string },
  options: DatabaseOptions,
  tool: Tool,
): Promise<void> {
  const timeZone = tool.settings.timeZone();
  const matter = await withMongo(tool, options, (connection) =>
    createMatterReader(connection).find(key),
  );
  if (!matter) {
    throw new CommandFailure(`there is no matter ${key.systemCode}/${key.externalId}`);
  }
  const view = toMatterView(matter, timeZone);
  if (options.json) await printJson(tool.stdout, view);
  else await printFields(tool.stdout, toFields(view));
}

function toFields({ parties, ...fields }: MatterView) {
  const names = parties.map(
    ({ partyRole, username, displayName, unread }) =>
      `${partyRole} ${username} (${displayName})${unread ? ' unread' : ''}`,
  );
  return { ...fields, parties: names.join(', ') };
}
