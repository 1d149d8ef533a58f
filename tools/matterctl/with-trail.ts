/** A command that changes something: no change without an entry in the audit trail. */

import { hostname, userInfo } from 'node:os';
import type { Connection } from 'mongoose';
import type { AuditDetails } from '../../src/storage/audit/audit-model';
import type { Action } from '../../src/storage/audit/trail';
import { CommandFailure, explain } from './failure';
import { note } from './print';
import type { Tool } from './tool';
import { type DatabaseOptions, withMongo } from './with-mongo';

export interface ChangeOptions extends DatabaseOptions {
  readonly operator?: string;
}

/** What is recorded is named one by one: nothing secret gets in by being there. */
export type Change = Omit<Action, 'operator' | 'host'>;

/**
 * Runs `work` between the two writes of its entry. Where the second one fails, the change is made and
 * its entry stays `STARTED`: the operator is told, and sees the result all the same.
 *
 * @param work changes something; tells the trail what came of it, also where it fails then
 * @throws CommandFailure where the trail cannot be written: nothing was changed then
 */
export async function withTrail<T>(
  tool: Tool,
  options: ChangeOptions,
  change: Change,
  work: (connection: Connection, tell: (result: AuditDetails) => void) => Promise<T>,
): Promise<T> {
  return withMongo(tool, options, async (connection) => {
    const { withAuditEntry } = await import('../../src/storage/audit/with-entry.js');
    const action = { ...change, ...operatorOf(options) };
    return withAuditEntry(connection, action, (tell) => work(connection, tell), {
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

/** Who runs matterctl, as the audit trail and the push log name them. */
export interface Operator {
  readonly operator: string;
  readonly host: string;
}

/** @param options of the command; without --operator it is the user of this system */
export function operatorOf(options: { readonly operator?: string }): Operator {
  return { operator: options.operator ?? systemUser(), host: hostname() };
}

/** A process may run as a user that the system does not know by name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
