/** One web process to ask. */
import { join } from 'node:path';
import { startApp } from '../local/app-process';
import { freePort } from '../local/ports';

export const SECRET_KEYS = `bench:${Buffer.alloc(32, 9).toString('base64')}`;

export interface BenchWebOptions {
  /** The project's folder. */
  readonly root: string;
  /** For its log. */
  readonly folder: string;
  readonly mongoUrl: string;
  readonly redisUrl: string;
  readonly name: string;
}

export async function startBenchWeb(
  options: BenchWebOptions,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const { root, folder, mongoUrl, redisUrl, name } = options;
  const port = await freePort();
  const app = await startApp({
    name,
    script: join(root, 'dist/src/web.js'),
    env: {
      ...process.env,
      MONGO_URL: mongoUrl,
      REDIS_URL: redisUrl,
      REDIS_NAMESPACE: name,
      SECRET_KEYS,
      HOST: '127.0.0.1',
      PORT: String(port),
      RATE_LIMIT: '0',
      DRAIN_DELAY: '0',
      LOG_LEVEL: 'info',
      METRICS_PORT: '0',
      TRACING: 'off',
    },
    logFile: join(folder, `${name}.log`),
    drainMs: 20_000,
  });
  return { url: `http://127.0.0.1:${port}`, stop: app.stop };
}
