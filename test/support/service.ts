/**
 * A running service for tests against the test servers, in a database and a Redis namespace of its own.
 * Web and worker run in the process of jest, or, where signals, crashes or several processes are the
 * subject, in processes of their own. Who needs no settings of its own, and stops no process, takes the shared
 * one (`shared-service.ts`), which is there at once.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Connection } from 'mongoose';
import { connectMongo } from '../../src/infra/mongo';
import { createClientAdmin } from '../../src/storage/directory/client-admin';
import { createKeyRing } from '../../src/storage/directory/sealing';
import { importUsers } from '../../src/storage/directory/user-admin';
import { prepareDatabase } from '../../src/storage/schema';
import { type AppProcess, startApp } from '../../tools/local/app-process';
import { freePort } from '../../tools/local/ports';
import { startInProcess } from './in-process';
import { type Answer, type PushOptions, push } from './pusher';

const PROJECT = path.resolve(__dirname, '../..');
const SECRET_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;
const USERS = ['alice', 'bob', 'carol', 'dave'];

type ProcessKind = 'web' | 'worker';

export interface ServiceOptions {
  readonly webs?: number;
  readonly workers?: number;
  /** Web and worker, or workers alone, are processes of their own, which can be killed; otherwise they run in the process of jest. */
  readonly processes?: boolean | 'workers';
  /** Settings of the processes; they override the tests' own. */
  readonly env?: Readonly<Record<string, string>>;
  readonly mongoUrl?: string;
  readonly redisUrl?: string;
  /** Every process gets a METRICS_PORT. */
  readonly metrics?: boolean;
}

/** What there is to a service, whoever started it. */
export interface SharedService {
  readonly webs: readonly Pick<AppProcess, 'pid' | 'logFile'>[];
  readonly workers: readonly Pick<AppProcess, 'pid' | 'logFile'>[];
  readonly db: Connection;
  readonly env: Readonly<Record<string, string>>;
  readonly clientId: string;
  readonly secret: string;
  urlOf(web?: number): string;
  /** Signs and sends one push. */
  push(operation: string, body: unknown, options?: Partial<PushOptions>): Promise<Answer>;
  /** Lets go of it: processes of this test file are stopped, and their database is dropped. */
  stop(): Promise<void>;
}

/** One whose processes are the test's own, to be killed and added to. */
export interface Service extends SharedService {
  readonly webs: AppProcess[];
  readonly workers: AppProcess[];
  /** Where the metrics of each process are, in the order of their start. */
  readonly metricsUrls: readonly string[];
  /** @param env settings of this one; they override those of the others */
  startWorker(env?: Readonly<Record<string, string>>): Promise<AppProcess>;
  /** The same. */
  startWeb(env?: Readonly<Record<string, string>>): Promise<AppProcess>;
}

/** URLs of the servers that `npm test` started for all test files. */
export function testServers(): { mongoUrl: string; redisUrl: string } {
  const { TEST_MONGO_URL: mongoUrl, TEST_REDIS_URL: redisUrl } = process.env;
  if (!mongoUrl || !redisUrl)
    throw new Error('run the tests with "npm test": it starts the servers');
  return { mongoUrl, redisUrl };
}

/** The same servers, another database. Several hosts are no URL by the standard. */
export function withDatabase(mongoUrl: string, name: string): string {
  return mongoUrl.replace(/^(mongodb:\/\/[^/?]*)\/?[^?]*/, `$1/${name}`);
}

/**
 * The URL of the server that all tests share, and that no test disturbs. On a busy machine its heartbeats are late:
 * a process that took them for an outage would reject pushes.
 */
export const withPatience = (mongoUrl: string): string =>
  `${mongoUrl}${mongoUrl.includes('?') ? '&' : '?'}connectTimeoutMS=60000&serverSelectionTimeoutMS=60000`;

/** The settings of a service of this name, which is that of its database and of its keys in Redis. */
export const settingsOf = (name: string, servers: { mongoUrl: string; redisUrl: string }) => ({
  MONGO_URL: withDatabase(servers.mongoUrl, name),
  REDIS_URL: servers.redisUrl,
  REDIS_NAMESPACE: name,
  SECRET_KEYS,
  HOST: '127.0.0.1',
  DRAIN_DELAY: '0',
  // A busy machine is slow, and none of this is about the deadline.
  PUSH_TIMEOUT: '120s',
  BATCH_TIMEOUT: '120s',
  DRAIN_TIMEOUT: '300s',
  LOG_LEVEL: 'debug',
});

/** A connection to a database with everything that a service needs there but clients. */
export async function openDatabase(url: string): Promise<Connection> {
  const db = await connectMongo(url);
  await prepareDatabase(db, {
    retention: 30 * 86_400_000,
    bodyRetention: 7 * 86_400_000,
    concluded: ['DONE', 'CLOSED'],
  });
  return db;
}

/** Makes the users known, and a client of the system. */
export async function introduce(
  db: Connection,
  clientId: string,
  systemCode = 'TEST',
): Promise<{ secret: string }> {
  await importUsers(
    db,
    USERS.map((username) => ({ username, displayName: username.toUpperCase() })),
  );
  const admin = createClientAdmin(db, createKeyRing([SECRET_KEYS]), Date.now);
  const { secret } = await admin.create({ clientId, systemCode });
  return { secret: secret ?? '' };
}

/** If a test of the file fails, its error shows the warnings in this log. */
export function noteLog(logFile: string): void {
  (globalThis as { serviceLogs?: Set<string> }).serviceLogs?.add(logFile);
}

/** One process; a web listens on a port that the system chooses. */
export function startProcess(
  kind: ProcessKind,
  { env, logFile }: { env: NodeJS.ProcessEnv; logFile: string },
): Promise<AppProcess> {
  return startApp({
    name: kind,
    script: path.join(PROJECT, kind === 'web' ? 'dist/src/web.js' : 'dist/workers/main.js'),
    env: { ...process.env, PORT: '0', METRICS_PORT: '0', ...env },
    logFile,
    drainMs: 300_000,
  });
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const name = `t-${randomBytes(5).toString('hex')}`;
  const logs = mkdtempSync(path.join(tmpdir(), 'matter-push-service-'));
  const { mongoUrl, redisUrl } = testServers();
  const servers = { mongoUrl: withPatience(mongoUrl), redisUrl, ...options };
  const env = { ...settingsOf(name, servers), ...options.env };
  const db = await openDatabase(env.MONGO_URL);
  const clientId = 'tester';
  const { secret } = await introduce(db, clientId);

  const apps: AppProcess[] = [];
  const metricsUrls: string[] = [];
  const nextMetricsPort = async () => {
    if (!options.metrics) return '0';
    const port = await freePort();
    metricsUrls.push(`http://127.0.0.1:${port}/metrics`);
    return String(port);
  };
  const launch = async (kind: ProcessKind, metricsPort: string, own: object = {}) => {
    const logFile = path.join(logs, `${kind}-${randomBytes(3).toString('hex')}.log`);
    const settings = { PORT: '0', METRICS_PORT: metricsPort, ...env, ...own };
    const isProcess = options.processes === true || options.processes === `${kind}s`;
    const start = isProcess ? startProcess : startInProcess;
    noteLog(logFile);
    const app = await start(kind, { env: settings, logFile });
    apps.push(app);
    return app;
  };
  const start = async (kind: ProcessKind, own?: object) =>
    launch(kind, await nextMetricsPort(), own);
  const many = async (kind: ProcessKind, count: number) => {
    const ports: string[] = [];
    while (ports.length < count) ports.push(await nextMetricsPort());
    return () => Promise.all(ports.map((port) => launch(kind, port)));
  };
  const startWebs = await many('web', options.webs ?? 1);
  const startWorkers = await many('worker', options.workers ?? 1);
  const [webs, workers] = await Promise.all([startWebs(), startWorkers()]);
  const urlOf = (web = 0) => String(webs[web]?.url);

  return {
    webs,
    workers,
    db,
    env,
    clientId,
    secret,
    urlOf,
    metricsUrls,
    push: (operation, body, more) =>
      push({ url: urlOf(), clientId, secret, operation, body, ...more }),
    startWorker: async (own) => {
      const worker = await start('worker', own);
      workers.push(worker);
      return worker;
    },
    startWeb: async (own) => {
      const web = await start('web', own);
      webs.push(web);
      return web;
    },
    stop: async () => {
      await Promise.all(apps.map((app) => app.stop()));
      // The database may have been stopped by the test itself; its folder goes with it then.
      await db.dropDatabase().catch(() => undefined);
      await db.close();
      rmSync(logs, { recursive: true, force: true });
    },
  };
}
