import type { Command } from 'commander';
import { systemClock } from '../../../src/concurrency/timing';
import type { AuditEntry } from '../../../src/storage/audit';
import { localTime, shortTime, timeHead } from '../local-time';
import { momentIn, wholeNumber, withDatabase } from '../option-values';
import { type Cell, note, printJson, printTable } from '../print';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';

interface Options extends DatabaseOptions {
  /** Epoch milliseconds. */
  readonly since?: number;
  readonly operator?: string;
  readonly client?: string;
  readonly limit: number;
}

const HEAD = ['OPERATOR', 'COMMAND', 'SUBJECT', 'OUTCOME', 'DETAILS'];

/** `audit` prints the audit trail as a table or as NDJSON. */
export function addAudit(parent: Command, tool: Tool): void {
  const command = parent
    .command('audit')
    .description('list what operators changed with matterctl, the newest first')
    .option(
      '--since <time>',
      'e.g. 2026-05-01, or 7d: a week ago',
      momentIn(tool.settings.timeZone),
    )
    .option('--operator <name>', 'of one operator')
    .option('--client <id>', 'about one client')
    .option('--limit <n>', 'most entries', wholeNumber(1, 100_000), 50);
  withDatabase(command).action((options: Options) => audit(options, tool));
}

async function audit(options: Options, tool: Tool): Promise<void> {
  const { since, operator, client: clientId, limit, json } = options;
  const timeZone = tool.settings.timeZone();
  const { createAuditTrail } = await import('../../../src/storage/audit.js');
  const found = await withMongo(tool, options, (connection) =>
    createAuditTrail(connection, systemClock).list({ since, operator, clientId }, limit + 1),
  );
  const entries = found.slice(0, limit);
  if (json) for (const { _id, ...entry } of entries) await printJson(tool.stdout, entry);
  else if (entries.length > 0) {
    await printTable(
      tool.stdout,
      [timeHead('AT', timeZone), ...HEAD],
      entries.map((entry) => toRow(entry, timeZone)),
    );
  } else note(tool.stderr, 'No such entries.');
  if (found.length > limit) {
    note(tool.stderr, `There are more than ${limit}: narrow it, or raise --limit.`);
  }
}

function toRow(entry: AuditEntry, timeZone: string): Cell[] {
  const { at, operator, host, command, subject, outcome } = entry;
  const who = `${operator}@${host}`;
  return [
    localTime(at.getTime(), timeZone),
    who,
    command,
    subject,
    outcome,
    detailsText(entry, timeZone),
  ];
}

function detailsText({ details, result, error }: AuditEntry, timeZone: string): string {
  const values = Object.entries({ ...details, ...result }).map(([name, value]) => {
    if (typeof value === 'string' && name.endsWith('At')) {
      return `${name}="${shortTime(value, timeZone)}"`;
    }
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return `${name}=${text}`;
  });
  return [...values, ...(error === null ? [] : [error])].join(' ');
}
