/**
 * jest's globalSetup: a service for each of jest's workers, started when a test file of that worker
 * first asks for it. A start costs two seconds of a core; most files need a service, not a new one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AppProcess } from '../../tools/local/app-process';
import { openDatabase, settingsOf, startProcess, testServers, withPatience } from './service';

/** The service of a jest worker, as a test file receives it. */
export interface Running {
  readonly env: Readonly<Record<string, string>>;
  readonly web: Pick<AppProcess, 'pid' | 'logFile' | 'url'>;
  readonly worker: Pick<AppProcess, 'pid' | 'logFile'>;
}

export default async function open(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'matter-push-shared-'));
  const apps: AppProcess[] = [];
  const services = new Map<string, Promise<Running>>();

  async function start(id: string): Promise<Running> {
    const { mongoUrl, redisUrl } = testServers();
    const env = settingsOf(`shared-${id}`, { mongoUrl: withPatience(mongoUrl), redisUrl });
    const db = await openDatabase(env.MONGO_URL);
    await db.close();
    const begin = async (kind: 'web' | 'worker') => {
      const logFile = path.join(folder, `${kind}-${id}.log`);
      const app = await startProcess(kind, { env, logFile });
      apps.push(app);
      // One that a test file brought down is not the trouble of the next: that one gets another.
      void app.exited.then(() => services.delete(id));
      return { pid: app.pid, logFile, url: app.url };
    };
    const [web, worker] = await Promise.all([begin('web'), begin('worker')]);
    return { env, web, worker };
  }

  const server = createServer((req, res) => {
    // Asked once per test file: a connection kept for the next one would be closed while it is being used.
    res.setHeader('Connection', 'close');
    const id = String(req.url).slice(1);
    const running = services.get(id) ?? start(id);
    services.set(id, running);
    running.then(
      (it) => res.end(JSON.stringify(it)),
      (error: Error) => {
        services.delete(id);
        res.writeHead(500).end(error.message);
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env.TEST_SHARED_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  Object.assign(globalThis, {
    closeShared: async () => {
      server.close();
      server.closeAllConnections();
      await Promise.allSettled(services.values());
      await Promise.all(apps.map((app) => app.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  });
}
