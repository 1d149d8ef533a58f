/**
 * The ceiling of batches: one unordered bulkWrite of the matters of a batch, with an upsert by key. No signature, no
 * validation, no log, no order.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { mongo } from 'mongoose';
import getRawBody from 'raw-body';
import { announceReady } from '../../../src/infra/lifecycle';
import { connectMongo, nativeCollection } from '../../../src/infra/mongo';
import { type MatterRecord, matterModel } from '../../../src/storage/ledger';
import { runPeer } from './front';

runPeer(async () => {
  const connection = await connectMongo(String(process.env.MONGO_URL));
  const matters = nativeCollection(matterModel(connection));
  const { systemCode }: { systemCode: string } = JSON.parse(process.env.PEER_CLIENT ?? '{}');
  const server = createServer(async (request, response) => {
    try {
      const body = await getRawBody(request, { encoding: 'utf8' });
      const lines = body.trimEnd().split('\n');
      const updates = lines.map((line) => upsertOf(systemCode, JSON.parse(line).body));
      await matters.bulkWrite(updates, { ordered: false });
      answer(response, 0);
    } catch (error) {
      process.stderr.write(`${error}\n`);
      answer(response, 503);
    }
  });
  server.listen(Number(process.env.PORT), '127.0.0.1', () => announceReady({}));
});

/** The body of a push, as load/pushes.ts creates it. */
interface Upsert {
  readonly externalId: string;
  readonly matterType: MatterRecord['matterType'];
  readonly title: string;
  readonly content: string;
  readonly sourceUpdatedAt: string;
  readonly parties: readonly { readonly username: string; readonly partyRole: 'ASSIGNEE' }[];
}

/** Writes the same fields as the other peers, see ledger.ts. */
function upsertOf(
  systemCode: string,
  { externalId, sourceUpdatedAt, parties, matterType, title, content }: Upsert,
): mongo.AnyBulkWriteOperation<MatterRecord> {
  const now = new Date();
  const fields: Partial<MatterRecord> = {
    ...{ matterType, title, content, bizStatus: 'PENDING', phase: 'OPEN' },
    ...{ deleted: false, priorityRank: 0, updatedAt: now },
    sourceUpdatedAt: new Date(sourceUpdatedAt),
    parties: parties.map((party) => ({ ...party, displayName: '', unread: true })),
    pastHandlers: [],
  };
  return {
    updateOne: {
      filter: { systemCode, externalId },
      update: { $set: fields, $setOnInsert: { createdAt: now }, $inc: { revision: 1 } },
      upsert: true,
    },
  };
}

function answer(response: ServerResponse, code: number): void {
  const body = Buffer.from(JSON.stringify({ code }));
  response.writeHead(code === 0 ? 200 : code, { 'Content-Length': body.length }).end(body);
}
