/** The operator's way: everything read from the database itself. */

import { type Connection, Types } from 'mongoose';
import { inBatches } from '../../../src/concurrency/in-batches';
import { createMutex } from '../../../src/concurrency/mutex';
import type { Diagnosis } from '../../../src/protocol/diagnosis';
import { bodyText } from '../../../src/queries/body-text';
import { countQueryOf, isCountable } from '../../../src/queries/not-recorded';
import { toOperatorEntryView } from '../../../src/queries/presenters/entry';
import { toMatterView } from '../../../src/queries/presenters/matter';
import { createDiagnoseEntry } from '../../../src/signature-diagnosis/diagnose-entry';
import { createFindHeldSecrets } from '../../../src/storage/directory/held-secrets';
import { createKeyRing, type KeyRing } from '../../../src/storage/directory/sealing';
import { createUserDirectory } from '../../../src/storage/directory/users';
import { createMatterReader } from '../../../src/storage/ledger/matter-reader';
import { createBodies } from '../../../src/storage/push-log/bodies';
import type { LogEntry } from '../../../src/storage/push-log/entry-model';
import { createKeyUses } from '../../../src/storage/push-log/key-uses';
import { createReadCounts } from '../../../src/storage/push-log/read-counts';
import { receivedAtOf } from '../../../src/storage/push-log/request-id';
import { createLogSearch } from '../../../src/storage/push-log/search';
import { CommandFailure } from '../failure';
import { note } from '../print';
import type { Tool } from '../tool';
import type { LogSource, MatterSource, ShownEntry } from './sources';

/** Entries whose keys are looked up together. */
const BATCH = 500;

export function createDatabaseLog(connection: Connection, tool: Tool): LogSource {
  const search = createLogSearch(connection);
  const counts = createReadCounts(connection);
  const keyUses = createKeyUses(connection);
  const toView = (entry: LogEntry): ShownEntry => toOperatorEntryView(entry, undefined);
  return {
    ofOperators: true,
    page: async (filter, options) => {
      const isCounted = options.after === undefined && isCountable(filter);
      const [{ entries, next }, notRecorded] = await Promise.all([
        search.page(filter, options),
        isCounted ? counts.unrecorded(countQueryOf(filter)) : undefined,
      ]);
      return {
        notRecorded,
        entries: entries.map(toView),
        next,
        place: next === undefined ? next : receivedAtOf(next),
      };
    },
    all: async function* (filter, order) {
      for await (const entry of search.all(filter, order)) yield toView(entry);
    },
    numbered: async function* (entries) {
      for await (const batch of inBatches(entries, BATCH)) {
        const owners = batch.map(ownerOf);
        const uses = await keyUses(owners);
        for (const [index, view] of batch.entries()) {
          const owner = owners[index];
          yield { ...view, attempt: (owner && uses.attempt(owner)) ?? null };
        }
      }
    },
    detail: async (requestId, { body }) => {
      const [entry] = (await search.page({ requestId }, { limit: 1 })).entries;
      if (!entry) return undefined;
      const diagnosis = await diagnosisOf(entry, connection, tool);
      const found = { view: toView(entry), diagnosis };
      if (!body) return { ...found, body: undefined };
      const bodies = await createBodies(connection).find([requestId]);
      return { ...found, body: bodyText(bodies.get(requestId)) };
    },
  };
}

/** Who used a key, as the search for its uses takes it. */
function ownerOf({ requestId, systemCode, clientId, operation, idempotencyKey }: ShownEntry) {
  return {
    _id: new Types.ObjectId(requestId),
    clientId,
    operation,
    ...(systemCode !== null && { systemCode }),
    ...(idempotencyKey !== null && { idempotencyKey }),
  };
}

/** @param timeZone PORTAL_TIME_ZONE */
export function createDatabaseMatters(connection: Connection, timeZone: string): MatterSource {
  const reader = createMatterReader(connection);
  return {
    find: async (key) => {
      const matter = await reader.find(key);
      return matter && toMatterView(matter, timeZone);
    },
    byKeys: reader.byKeys,
    orphans: async function* (systemCode, list) {
      for await (const matter of reader.open(systemCode)) {
        if (!list.names(matter.externalId)) yield matter;
      }
    },
    unknownUsers: createUserDirectory(connection, Date.now).unknown,
  };
}

/** Milliseconds for a diagnosis. Nobody else waits for this process. */
const BOUNDS = { time: 5_000, clock: () => performance.now() };

/**
 * What was wrong with a rejected signature.
 *
 * @returns undefined where its signature was not what it was rejected for, or no secret can be opened
 */
async function diagnosisOf(
  entry: LogEntry,
  connection: Connection,
  tool: Tool,
): Promise<Diagnosis | undefined> {
  const keyRing = entry.signature && keyRingOf(tool);
  if (!keyRing) return undefined;
  const secrets = createFindHeldSecrets(connection, keyRing);
  const diagnose = createDiagnoseEntry(secrets, BOUNDS, createMutex());
  const id = String(entry._id);
  return diagnose(entry, (await createBodies(connection).find([id])).get(id));
}

/** The rest of what the log knows is shown without them too. */
function keyRingOf({ settings, stderr }: Tool): KeyRing | undefined {
  try {
    return createKeyRing(settings.secretKeys());
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    note(stderr, `The signature was not looked into: ${error.message}`);
    return undefined;
  }
}
