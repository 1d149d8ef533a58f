import type { Command } from 'commander';
import type { MatterAnswer } from '../../../src/protocol/matter-view';
import { CommandFailure } from '../failure';
import { zonedTime } from '../local-time';
import { printFields, printJson } from '../print';
import { type SourceOptions, withSource } from '../source/options';
import { withSources } from '../source/with-sources';
import type { Tool } from '../tool';

/** `matter get` prints one matter. It also finds a deleted matter, and prints that it is deleted. */
export function addMatterGet(parent: Command, tool: Tool): void {
  const command = parent
    .command('get')
    .description('show one matter')
    .argument('<systemCode>')
    .argument('<externalId>');
  withSource(command).action((systemCode: string, externalId: string, options: SourceOptions) =>
    getMatter({ systemCode, externalId }, options, tool),
  );
}

async function getMatter(
  key: { readonly systemCode: string; readonly externalId: string },
  options: SourceOptions,
  tool: Tool,
): Promise<void> {
  const view = await withSources(tool, { ...options, ...key }, ({ matters }) => matters.find(key));
  if (!view) {
    throw new CommandFailure(`there is no matter ${key.systemCode}/${key.externalId}`);
  }
  if (options.json) await printJson(tool.stdout, view);
  else await printFields(tool.stdout, toFields(view, tool.settings.timeZone()));
}

function toFields({ parties, ...fields }: MatterAnswer, timeZone: string) {
  const names = parties.map(
    ({ partyRole, username, displayName, unread }) =>
      `${partyRole} ${username} (${displayName})${unread ? ' unread' : ''}`,
  );
  const shown = Object.entries(fields).map(([name, value]) => {
    const isTime = name.endsWith('At') && typeof value === 'string';
    return [name, isTime ? timeText(value, timeZone) : value] as const;
  });
  return { ...Object.fromEntries(shown), parties: names.join(', ') };
}

/** `deadlineAt` is a local time in the time zone of the portal, without an offset. */
const timeText = (time: string, timeZone: string) =>
  time.endsWith('Z') ? zonedTime(time, timeZone) : `${time.replace('T', ' ')} (${timeZone})`;
