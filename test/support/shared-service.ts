/**
 * A service for test files that need no settings of their own and stop no process. The files of one jest worker share it,
 * one after the other. Each file starts with an empty ledger, an empty log and a new client. Rejections of the previous file
 * are recorded up to a second late. So a file that reads the whole log of a system uses a system that no other file has.
 */
import { randomBytes } from 'node:crypto';
import { connectMongo } from '../../src/infra/mongo';
import { untilKnown } from './known-client';
import { push } from './pusher';
import { introduce, noteLog, type SharedService } from './service';
import type { Running } from './shared-host';

export async function sharedService(systemCode = 'TEST'): Promise<SharedService> {
  const { env, web, worker } = await running();
  for (const { logFile } of [web, worker]) noteLog(logFile);
  const db = await connectMongo(env.MONGO_URL ?? '');
  // What an earlier file left; the users too, and all of the clients.
  const collections = (await db.listCollections()).filter(({ type }) => type === 'collection');
  await Promise.all(collections.map(({ name }) => db.collection(name).deleteMany({})));
  const clientId = `tester-${randomBytes(4).toString('hex')}`;
  const { secret } = await introduce(db, clientId, systemCode);
  const urlOf = () => String(web.url);
  await untilKnown({ url: urlOf(), clientId, secret });
  return {
    webs: [web],
    workers: [worker],
    db,
    env,
    clientId,
    secret,
    urlOf,
    push: (operation, body, more) =>
      push({ url: urlOf(), clientId, secret, operation, body, ...more }),
    stop: () => db.close(),
  };
}

async function running(): Promise<Running> {
  const { TEST_SHARED_URL: url, JEST_WORKER_ID: id } = process.env;
  const answer = await fetch(`${url}/${id}`);
  if (!answer.ok) throw new Error(`the shared service does not run: ${await answer.text()}`);
  return (await answer.json()) as Running;
}
