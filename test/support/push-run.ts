/** `matterctl push` of a file to a scripted server: each test has a folder of its own with both. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CliRun, matterctl } from './cli-tool';
import { type ScriptedServer, SECRET } from './scripted-server';

/** Milliseconds between two lines about waits. */
const WAIT_LINES = 10_000;

export interface PushRun {
  folder: string;
  /** What is pushed; a test may take another one. */
  file: string;
  secretFile: string;
  /** Writes the file's lines: texts as they are, everything else as JSON. */
  write(...lines: readonly unknown[]): Promise<void>;
  /** @param more of its arguments */
  push(...more: string[]): Promise<CliRun>;
  /** The lines about waits of the last run. Expects one, and one more for each ten seconds that the run took. */
  waits(stderr: string): string[];
}

/** @param always arguments of every run */
export function usePushRun(server: ScriptedServer, ...always: string[]): PushRun {
  const asText = (line: unknown) => (typeof line === 'string' ? line : JSON.stringify(line));
  let took = 0;
  const run: PushRun = {
    ...{ folder: '', file: '', secretFile: '' },
    write: (...lines) => writeFile(run.file, lines.map((line) => `${asText(line)}\n`).join('')),
    push: async (...more) => {
      const startedAt = performance.now();
      const ended = await matterctl([
        ...['push', run.file, '--client-id', 'erp', '--secret-file', run.secretFile],
        ...['--url', server.url, '--json', ...always, ...more],
      ]);
      took = performance.now() - startedAt;
      return ended;
    },
    waits: (stderr) => {
      const lines = stderr.split('\n').filter((line) => line.startsWith('Waiting'));
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.length).toBeLessThanOrEqual(1 + Math.floor(took / WAIT_LINES));
      return lines;
    },
  };
  beforeEach(async () => {
    run.folder = await mkdtemp(join(tmpdir(), 'matterctl-'));
    run.file = join(run.folder, 'in.ndjson');
    run.secretFile = join(run.folder, 'secret');
    await writeFile(run.secretFile, `${SECRET}\n`);
  });
  afterEach(() => rm(run.folder, { recursive: true }));
  return run;
}
