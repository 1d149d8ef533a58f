/** Starts the operator page on the internal port of a process. */
import type { RequestListener } from 'node:http';
import { foldedLog } from '../infra/folded-log';
import { outagesOf } from '../infra/outages';
import type { OperatorPage } from '../observability/observability';
import { createReadWaiting } from '../queue/commands/read-waiting';
import { type OperatorParts, type QueueHistory, startQueueHistory } from './queue-history';

export interface Operator extends OperatorPage {
  close(): Promise<void>;
}

/** The operator page also uses files of the console (`/console/`). */
const PATHS = /^\/(?:$|status$|operator\/|manual\/|console\/)/;

const FAILED = { level: 'warn', text: 'the operator page failed' } as const;

export function createOperator(parts: OperatorParts & { readonly hasPort: boolean }): Operator {
  const { hasPort, redis, keys, logger } = parts;
  const handles = (path: string) => PATHS.test(path);
  const reject: RequestListener = (_req, res) => void res.writeHead(404).end();
  if (!hasPort) return { handles, handle: reject, close: async () => undefined };
  const queue = startQueueHistory(createReadWaiting(redis, keys), outagesOf(logger));
  let app: Promise<LoadedApp> | undefined;
  const handle: RequestListener = async (req, res) => {
    try {
      app ??= load(parts, queue);
      await (await app).answer(req, res);
    } catch (error) {
      // The next request loads the page again.
      app = undefined;
      foldedLog(logger)(FAILED, { error: String(error) });
      if (!res.headersSent) res.writeHead(500);
      res.end();
    }
  };
  const close = async () => {
    await queue.stop();
    await (await app?.catch(() => undefined))?.close();
  };
  return { handles, handle, close };
}

interface LoadedApp {
  answer(...of: Parameters<RequestListener>): Promise<void>;
  close(): Promise<void>;
}

async function load(parts: OperatorParts, queue: QueueHistory): Promise<LoadedApp> {
  const { createOperatorApp } = await import('./app.js');
  return createOperatorApp(parts, queue);
}
