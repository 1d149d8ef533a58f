/** Reads the push log and the ledger from the database, for operators. */

import { type Connection, Types } from 'mongoose';
import { inBatches } from '../../../src/concurrency/batcher';
import { createMutex } from '../../../src/concurrency/turns';
import type { Diagnosis } from '../../../src/protocol/log-page';
import { bodyText } from '../../../src/queries/body-text';
import { countQueryOf, isCountable } from '../../../src/queries/not-recorded';
import { toOperatorEntryView } from '../../../src/queries/presenters/entry';
import { toMatterView } from '../../../src/queries/presenters/matter';
import { createDiagnoseEntry } from '../../../src/signature-diagnosis/diagnose';
import { createFindStoredSecrets, createUserDirectory } from '../../../src/storage/directory';
import { createKeyRing, type KeyRing } from '../../../src/storage/directory/sealing';
import { createMatterReader } from '../../../src/storage/ledger';
import {
  createBodies,
  createKeyUses,
  createLogSearch,
  createPushCountReader,
  type LogEntry,
} from '../../../src/storage/push-log';
import { receivedAtOf } from '../../../src/storage/push-log/request-id';
import { CommandFailure } from '../failure';
import { note } from '../print';
import type { Tool } from '../tool';
import type { LogSource, MatterSource, ShownEntry } from './sources';

/** Number of entries whose keys are looked up together. */
const BATCH = 500;

export function createDatabaseLog(connection: Connection, tool: Tool): LogSource {
  const search = createLogSearch(connection);
  const counts = createPushCountReader(connection);
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

/** The idempotency key of an entry, as the search for its uses needs it. */
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

/** Milliseconds for a diagnosis. They are more than in `web`, because this process has no other work. */
const BOUNDS = { time: 5_000, clock: () => performance.now() };

/**
 * The diagnosis of a rejected signature.
 *
 * @returns undefined if the entry was not rejected because of its signature, or if SECRET_KEYS is not set
 */
async function diagnosisOf(
  entry: LogEntry,
  connection: Connection,
  tool: Tool,
): Promise<Diagnosis | undefined> {
  const keyRing = entry.signature && keyRingOf(tool);
  if (!keyRing) return undefined;
  const secrets = createFindStoredSecrets(connection, keyRing);
  const diagnose = createDiagnoseEntry(secrets, BOUNDS, createMutex());
  const id = String(entry._id);
  return diagnose(entry, (await createBodies(connection).find([id])).get(id));
}

/** Undefined without SECRET_KEYS. The command then shows the entry without a diagnosis. */
function keyRingOf({ settings, stderr }: Tool): KeyRing | undefined {
  try {
    return createKeyRing(settings.secretKeys());
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    note(stderr, `The signature was not looked into: ${error.message}`);
    return undefined;
  }
}
