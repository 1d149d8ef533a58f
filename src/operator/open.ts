/** The operator's screen of a process, on its internal port: loaded when somebody asks for it. */
import type { RequestListener } from 'node:http';
import type { Beside } from '../observability/metrics/options';
import { createPartitionStates } from '../queue/partition-states';
import { foldedLog } from '../runtime/folded-log';
import { outagesOf } from '../runtime/outages';
import type { OperatorParts } from './parts';
import { type QueueHistory, startQueueHistory } from './queue-history';

export interface Operator extends Beside {
  close(): Promise<void>;
}

/** The page itself, what it shows as JSON, its own files, and those that it has of the console. */
const PLACES = /^\/(?:$|status$|operator\/|console\/)/;

const FAILED = { level: 'warn', text: "operator's screen error" } as const;

/** @param parts `isKept`: whether there is an internal port */
export function openOperator(parts: OperatorParts & { readonly isKept: boolean }): Operator {
  const { isKept, redis, keys, logger } = parts;
  const owns = (path: string) => PLACES.test(path);
  const refuse: RequestListener = (_req, res) => void res.writeHead(404).end();
  if (!isKept) return { owns, answer: refuse, close: async () => undefined };
  const queue = startQueueHistory(createPartitionStates(redis, keys), outagesOf(logger));
  let app: Promise<LoadedApp> | undefined;
  const answer: RequestListener = async (req, res) => {
    try {
      app ??= load(parts, queue);
      await (await app).answer(req, res);
    } catch (error) {
      // A later request tries it anew.
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
  return { owns, answer, close };
}

interface LoadedApp {
  answer(...of: Parameters<RequestListener>): Promise<void>;
  close(): Promise<void>;
}

async function load(parts: OperatorParts, queue: QueueHistory): Promise<LoadedApp> {
  const { createOperatorApp } = await import('./app.js');
  return createOperatorApp(parts, queue);
}
