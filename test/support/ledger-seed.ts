/** Matters put into the ledger past the service, where a test needs many or odd ones. */
import type { Connection } from 'mongoose';
import type { Matter } from '../../src/domain/matter';
import { nativeCollection } from '../../src/infra/mongo';
import { matterModel, toRecord } from '../../src/storage/ledger/matters';
import { aMatter } from './builders';

const BATCH = 5_000;
let lastId = 1_000_000_000_000_000n;

/** @param make what a matter has of its own; the id is given by the order */
export async function seedLedger(
  db: Connection,
  count: number,
  make: (n: number) => Partial<Matter>,
): Promise<Matter[]> {
  const matters = Array.from({ length: count }, (_, n) => {
    lastId += 1n;
    return aMatter({ systemCode: 'TEST', matterId: lastId, ...make(n) });
  });
  const collection = nativeCollection(matterModel(db));
  for (let at = 0; at < count; at += BATCH) {
    await collection.insertMany(matters.slice(at, at + BATCH).map(toRecord));
  }
  return matters;
}
