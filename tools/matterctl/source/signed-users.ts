/** Which users the portal does not know, asked of the service: `users/check`. */
import type { MatterPushClient } from '../../client/matter-push-client';

/** Names of one check. */
const MAX_NAMES = 1_000;

/** @param usernames in the form that a push may name them, each once */
export async function askUnknownUsers(
  usernames: readonly string[],
  client: Pick<MatterPushClient, 'query'>,
): Promise<string[]> {
  const unknown: string[] = [];
  for (let at = 0; at < usernames.length; at += MAX_NAMES) {
    const some = usernames.slice(at, at + MAX_NAMES);
    const { users } = await client.query('users/check', { usernames: some });
    for (const { username, state } of users) if (state !== 'ENABLED') unknown.push(username);
  }
  return unknown;
}
