/** Which failed pushes of the last day `matterctl log resend` would send. */
import { type Connection, Types } from 'mongoose';
import { ALL_REASONS, PushError } from '../../../src/protocol/errors';
import { nativeCollection } from '../../../src/storage/mongo';
import { bodyModel, type LoggedBody } from '../../../src/storage/push-log/body-model';
import type { LogEntry } from '../../../src/storage/push-log/entry-model';
import { createLogLookups } from '../../../src/storage/push-log/lookups';
import { createLogSearch } from '../../../src/storage/push-log/search';
import { selectPushes } from '../resend/select';
import type { Resendable } from './status';

const DAY = 86_400_000;
/** Entries of a system that are looked at, the newest first. */
const MOST = 500;

/** What was not its caller's fault: the same push may be accepted now. */
const PASSING = ALL_REASONS.filter((reason) => {
  const { code } = new PushError(reason);
  return code >= 500 || code === 429;
});

/** @returns to be asked with the system codes of all clients */
export function createFindResendable(
  connection: Connection,
): (systemCodes: readonly string[]) => Promise<Resendable> {
  const search = createLogSearch(connection);
  const deps = {
    bodies: whichAreKept(connection),
    lookups: createLogLookups(connection),
    again: false,
    byId: false,
  };
  return async (systemCodes) => {
    const from = Date.now() - DAY;
    const reasons: Record<string, number> = {};
    let isCut = false;
    for (const systemCode of systemCodes) {
      // Along one index, and so many at most.
      const page = await search.page({ systemCode, result: PASSING, from }, { limit: MOST });
      isCut ||= page.next !== undefined;
      for await (const selected of selectPushes(each(page.entries), deps)) {
        if (selected.kind !== 'push') continue;
        const { result = 'CONFIRMATION_TIMEOUT' } = selected.push.entry;
        reasons[result] = (reasons[result] ?? 0) + 1;
      }
    }
    const count = Object.values(reasons).reduce((sum, one) => sum + one, 0);
    return { count, isCut, reasons };
  };
}

async function* each(entries: readonly LogEntry[]): AsyncGenerator<LogEntry> {
  yield* entries;
}

/** Whether a body is there is all that counts: none is read. */
function whichAreKept(connection: Connection) {
  const collection = nativeCollection<LoggedBody>(bodyModel(connection));
  const some = Buffer.from('{}');
  return {
    find: async (ids: readonly string[]): Promise<Map<string, Buffer>> => {
      const wanted = { _id: { $in: ids.map((id) => new Types.ObjectId(id)) } };
      const found = await collection.find(wanted, { projection: { _id: 1 } }).toArray();
      return new Map(found.map(({ _id }) => [String(_id), some]));
    },
  };
}
