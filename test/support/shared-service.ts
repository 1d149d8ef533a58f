/**
 * A service for test files that need no settings of their own. It runs in the process of jest: a web and a worker that
 * wait for the next file in processes of their own take a twentieth of a core. The files of one of jest's workers share
 * its database, one after the other. For each file, the ledger and the log are empty, and there is a new client.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startInProcess } from './in-process';
import { push } from './pusher';
import {
  introduce,
  noteLog,
  openDatabase,
  type SharedService,
  settingsOf,
  testServers,
  withPatience,
} from './service';

export async function sharedService(systemCode = 'TEST'): Promise<SharedService> {
  const { mongoUrl, redisUrl } = testServers();
  const name = `shared-${process.env.JEST_WORKER_ID}`;
  const env = settingsOf(name, { mongoUrl: withPatience(mongoUrl), redisUrl });
  const db = await openDatabase(env.MONGO_URL);
  // What an earlier file left; the users too, and all of the clients.
  const collections = (await db.listCollections()).filter(({ type }) => type === 'collection');
  await Promise.all(collections.map(({ name: one }) => db.collection(one).deleteMany({})));
  const clientId = `tester-${randomBytes(4).toString('hex')}`;
  const { secret } = await introduce(db, clientId, systemCode);
  const logs = mkdtempSync(path.join(tmpdir(), 'matter-push-shared-'));
  const start = (kind: 'web' | 'worker') => {
    const logFile = path.join(logs, `${kind}.log`);
    noteLog(logFile);
    return startInProcess(kind, { env: { PORT: '0', METRICS_PORT: '0', ...env }, logFile });
  };
  const [web, worker] = await Promise.all([start('web'), start('worker')]);
  const urlOf = () => String(web.url);
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
    stop: async () => {
      await Promise.all([web.stop(), worker.stop()]);
      await db.close();
      rmSync(logs, { recursive: true, force: true });
    },
  };
}
