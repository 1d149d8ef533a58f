/** Runs commands that change something: every change has an entry in the audit trail. */

import { hostname, userInfo } from 'node:os';
import type { Connection } from 'mongoose';
import type { Action, AuditDetails } from '../../src/storage/audit';
import { CommandFailure, explain } from './failure';
import { note } from './print';
import type { Tool } from './tool';
import { type DatabaseOptions, withMongo } from './with-mongo';

export interface ChangeOptions extends DatabaseOptions {
  readonly operator?: string;
}

/** What the entry contains. Each command names every value itself, so that no secret gets into an entry by accident. */
export type Change = Omit<Action, 'operator' | 'host'>;

/**
 * Writes the entry, runs `work`, and writes its result into the entry. If the second write fails, the change is made
 * and the entry stays `STARTED`. The command then prints a note, and its result as usual.
 *
 * @param work makes the change, and reports its result for the entry, also a partial result before it throws
 * @throws CommandFailure if the first write fails; then nothing was changed
 */
export async function withTrail<T>(
  tool: Tool,
  options: ChangeOptions,
  change: Change,
  work: (connection: Connection, recordResult: (result: AuditDetails) => void) => Promise<T>,
): Promise<T> {
  return withMongo(tool, options, async (connection) => {
    const { withAuditEntry } = await import('../../src/storage/audit.js');
    const action = { ...change, ...operatorOf(options) };
    return withAuditEntry(connection, action, (recordResult) => work(connection, recordResult), {
      explain: firstLine,
      onUnended: (cause) =>
        note(tool.stderr, `The audit trail does not tell how this ended: ${firstLine(cause)}`),
    }).catch((error) => {
      throw error.name === 'NoAuditTrailError' ? new CommandFailure(error.message) : error;
    });
  });
}

const firstLine = (error: unknown) =>
  (explain(error).message ?? String(error)).split('\n')[0] ?? '';

/** Who runs `matterctl`. The audit trail and the push log show it. */
export interface TrailOperator {
  readonly operator: string;
  readonly host: string;
}

/** @param options options of the command; without --operator, the operator is the user of this system */
export function operatorOf(options: { readonly operator?: string }): TrailOperator {
  return { operator: options.operator ?? systemUser(), host: hostname() };
}

/** The name of the user of this process. A user without a name gets the name `uid-…`. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
