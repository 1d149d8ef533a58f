/** Reads of the ledger outside the way of a push: single matters, and all of them as a stream. */
import type { Connection } from 'mongoose';
import type { Matter } from '../domain/matter';
import { nativeCollection } from '../mongo';
import { type MatterRecord, matterModel } from './matter-model';
import { toMatter } from './matter-record';
import type { MatterKey } from './matters';

export interface MatterReader {
  /** Deleted matters are found too. */
  find(key: MatterKey): Promise<Matter | undefined>;
  /** All matters, or those of one system, by matter id; read in batches as they are asked for. */
  all(systemCode?: string): AsyncIterable<Matter>;
}

export function createMatterReader(connection: Connection): MatterReader {
  const collection = nativeCollection<MatterRecord>(matterModel(connection));
  return {
    find: async ({ systemCode, externalId }) => {
      const record = await collection.findOne({ systemCode, externalId });
      return record ? toMatter(record) : undefined;
    },
    all: async function* (systemCode) {
      const filter = systemCode === undefined ? {} : { systemCode };
      for await (const record of collection.find(filter).sort({ _id: 1 })) yield toMatter(record);
    },
  };
}
