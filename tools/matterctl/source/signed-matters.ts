/** The business side's way to the ledger: `matters/get` and `matters/orphans`, signed. */

import type { MatterView } from '../../../src/protocol/matter-view';
import { MatterPushError } from '../../client/error';
import type { MatterPushClient } from '../../client/matter-push-client';
import { toMatter } from './matter-of-view';
import type { MatterSource, OpenHere } from './matter-source';
import { askOrphans, type Signer } from './signed-orphans';
import { askUnknownUsers } from './signed-users';

export interface SignedMatters {
  readonly client: Pick<MatterPushClient, 'query'>;
  readonly signer: Signer;
  /** In which the service writes deadlines: PORTAL_TIME_ZONE. */
  readonly timeZone: string;
}

export function createSignedMatters({ client, signer, timeZone }: SignedMatters): MatterSource {
  const get = async (externalIds: readonly string[]): Promise<readonly MatterView[]> => {
    try {
      return (await client.query('matters/get', { externalIds })).matters;
    } catch (error) {
      if (!isTooHeavy(error) || externalIds.length < 2) throw error;
      const half = Math.ceil(externalIds.length / 2);
      return [...(await get(externalIds.slice(0, half))), ...(await get(externalIds.slice(half)))];
    }
  };
  return {
    find: async ({ externalId }) => (await get([externalId]))[0],
    byKeys: async function* (_systemCode, externalIds) {
      for (const view of await get(externalIds)) yield toMatter(view, timeZone);
    },
    unknownUsers: (usernames) => askUnknownUsers(usernames, client),
    orphans: async function* (_systemCode, list): AsyncGenerator<OpenHere> {
      for (const orphan of await askOrphans(list.ids(), signer)) {
        const { externalId, bizStatus, title, sourceUpdatedAt: at } = orphan;
        yield {
          externalId,
          bizStatus,
          title,
          sourceUpdatedAt: at === null ? null : Date.parse(at),
        };
      }
    },
  };
}

/** With contents at their longest, 500 matters are more than one answer may hold. */
const isTooHeavy = (error: unknown) =>
  error instanceof MatterPushError &&
  error.reason === 'VALIDATION_FAILED' &&
  error.errors.some(({ field }) => field === 'externalIds');
