/** A client sees nothing but its own system: asking it for another one is a mistake to be told. */
import { CommandFailure, EXIT_USAGE } from '../failure';

/**
 * @param asked the system that a command names; undefined: that of the client
 * @param found the system of what the client was given
 * @throws CommandFailure where they are two
 */
export function checkSystem(asked: string | undefined, found: string | null): void {
  if (asked === undefined || asked === found || found === null) return;
  throw new CommandFailure(
    `the client belongs to the system ${found} and sees nothing of ${asked}`,
    EXIT_USAGE,
  );
}
