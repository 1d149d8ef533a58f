/** Which users the portal does not know, asked of the service: a dry run names all of them at once. */
import { MatterPushError } from '../../client/error';
import type { MatterPushClient } from '../../client/matter-push-client';

/** Parties of one push. */
const MAX_NAMES = 500;
const PLACE = /^parties\[(\d+)\]\.username$/;

/** @param usernames in the form that a push may name them, each once */
export async function askUnknownUsers(
  usernames: readonly string[],
  client: Pick<MatterPushClient, 'verify'>,
): Promise<string[]> {
  const unknown: string[] = [];
  for (let at = 0; at < usernames.length; at += MAX_NAMES) {
    unknown.push(...(await askSome(usernames.slice(at, at + MAX_NAMES), client)));
  }
  return unknown;
}

async function askSome(
  usernames: readonly string[],
  client: Pick<MatterPushClient, 'verify'>,
): Promise<string[]> {
  const parties = usernames.map((username) => ({ username, partyRole: 'CC' as const }));
  const push = { matterType: 'NOTICE' as const, title: 'users', parties };
  try {
    await client.verify('upsert', push);
    return [];
  } catch (error) {
    if (!(error instanceof MatterPushError) || error.reason !== 'UNKNOWN_USER') throw error;
    const places = error.errors.map(({ field }) => Number(PLACE.exec(field)?.[1]));
    return places.flatMap((place) => usernames[place] ?? []);
  }
}
