/** Reads what a run left behind: the whole ledger and the whole push log. */
import { matterModel } from '../../src/storage/ledger/matter-model';
import { toMatter } from '../../src/storage/ledger/matter-record';
import { nativeCollection } from '../../src/storage/mongo';
import { entryModel, type LogEntry } from '../../src/storage/push-log/entry-model';
import type { Cluster } from '../harness/cluster';
import { USERNAMES } from '../harness/directory';
import type { Evidence } from './check/evidence';

/** @param seen what the harness knows by itself */
export async function collectEvidence(
  { db, config }: Cluster,
  seen: Pick<Evidence, 'history' | 'faultsEndedAt' | 'leftovers'>,
): Promise<Evidence> {
  // What a push changed is for people; the check folds by itself.
  const log = nativeCollection<LogEntry>(entryModel(db));
  const entries = await log.find({}).project<LogEntry>({ changes: 0, problems: 0 }).toArray();
  const records = await nativeCollection(matterModel(db)).find({}).toArray();
  return {
    ...seen,
    entries,
    matters: records.map(toMatter),
    names: new Map(USERNAMES.map((username) => [username, username.toUpperCase()])),
    concluded: new Set(config.CONCLUDED_STATUSES),
    timeZone: config.PORTAL_TIME_ZONE,
  };
}
