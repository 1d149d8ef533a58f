/** Who runs matterctl, as the audit trail and the push log name them. */
import { hostname, userInfo } from 'node:os';

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
