/** Where a test starts servers of its own: a temporary folder that goes with them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Ground } from '../../tools/harness/member';

export interface TestGround extends Ground {
  /** Ends what was started on it, and removes the folder. */
  clear(servers: readonly { stop(): Promise<void> }[]): Promise<void>;
}

export function makeGround(name: string): TestGround {
  const folder = mkdtempSync(path.join(tmpdir(), `matter-push-${name}-`));
  const stopping = new AbortController();
  return {
    root: path.resolve(__dirname, '../..'),
    folder,
    crashed: (what) => {
      throw new Error(what);
    },
    signal: stopping.signal,
    clear: async (servers) => {
      stopping.abort();
      await Promise.all(servers.map((server) => server.stop()));
      // A server that was just killed may still create a file.
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
