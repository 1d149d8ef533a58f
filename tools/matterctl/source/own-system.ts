/** A client sees nothing but its own system: asking it for another one is a mistake to be told. */
import type { MatterPushClient } from '../../client/matter-push-client';
import { CommandFailure, EXIT_USAGE } from '../failure';

/**
 * @param asked the system that a command names; undefined: that of the client
 * @throws CommandFailure where the client belongs to another one
 */
export async function checkSystem(
  asked: string | undefined,
  client: Pick<MatterPushClient, 'query'>,
): Promise<void> {
  if (asked === undefined) return;
  const { clientId, systemCode } = await client.query('clients/me', {});
  if (asked === systemCode) return;
  throw new CommandFailure(
    `${clientId} belongs to the system ${systemCode} and sees nothing of ${asked}`,
    EXIT_USAGE,
  );
}
