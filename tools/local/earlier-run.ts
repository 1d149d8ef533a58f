import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoints } from './data-dir';
import { isFree } from './ports';
import type { StartSettings } from './settings';
import { Stopped } from './waiting';

const POLL_MS = 100;
const EXTRA_MS = 15_000;

/**
 * Waits for the processes of an earlier run. After a SIGKILL of `npm start`, they still drain and use the data folder,
 * which the next run needs.
 */
export async function waitForEarlierRun(
  settings: StartSettings,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const ports = portsOf(readLeftover(settings.dataDir), settings);
  const until = Date.now() + settings.drainMs + EXTRA_MS;
  for (let hasReported = false; Date.now() < until; hasReported = true) {
    const free = await Promise.all(ports.map((port) => isFree(port, '127.0.0.1')));
    if (free.every(Boolean)) return;
    if (!hasReported) say('An earlier run in this folder is still ending; waiting for it');
    if (signal.aborted) throw new Stopped();
    await sleep(POLL_MS);
  }
}

function readLeftover(dataDir: string): Partial<Endpoints> {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'endpoints.json'), 'utf8'));
  } catch {
    return {}; // No file: the earlier run has removed it, or there was none.
  }
}

// Only ports of servers that `npm start` itself has started.
function portsOf(leftover: Partial<Endpoints>, settings: StartSettings): number[] {
  const urls = [
    settings.mongoUrl ? undefined : leftover.mongoUrl,
    settings.redisUrl ? undefined : leftover.redisUrl,
  ];
  return urls
    .map((url) => /^\w+:\/\/127\.0\.0\.1:(\d+)\//.exec(url ?? '')?.[1])
    .filter((port) => port !== undefined)
    .map(Number);
}
