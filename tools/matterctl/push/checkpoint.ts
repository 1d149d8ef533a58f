/** The checkpoint file. With it, a later run of the same input continues an interrupted run, with the same run id. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { CommandFailure } from '../failure';

const COUNT = z.number().int().min(0);
const COUNTS = z.record(z.string(), COUNT);

const CHECKPOINT = z.object({
  version: z.literal(1),
  /** Part of every idempotency key of the run. */
  runId: z.string().min(1),
  /** Size and hash of the input file; null for standard input, which cannot be compared. */
  input: z.object({ size: COUNT, sha256: z.string() }).nullable(),
  clientId: z.string(),
  url: z.string(),
  /** Number of a line. All lines up to it are done. */
  doneThrough: COUNT,
  /** Ranges of later lines that are done too. */
  doneAbove: z.array(z.tuple([COUNT, COUNT]).readonly()),
  /** Bytes of the failure file that belong to done lines. */
  failuresSize: COUNT,
  counts: z.object({
    lines: COUNT,
    failed: COUNT,
    outcomes: COUNTS,
    failures: COUNTS,
    retries: COUNT,
    // Absent in checkpoints of earlier versions.
    retryReasons: COUNTS.default({}),
    replayed: COUNT,
    afterFailure: COUNT,
    // Absent in checkpoints of earlier versions.
    warned: COUNT.default(0),
    warnings: COUNTS.default({}),
  }),
});

export type Checkpoint = z.infer<typeof CHECKPOINT>;
export type RunIdentity = Pick<Checkpoint, 'input' | 'clientId' | 'url'>;

/**
 * @returns undefined if there is no checkpoint, so that the run starts at the first line
 * @throws CommandFailure if the checkpoint belongs to another input, client or service
 */
export async function loadCheckpoint(
  path: string,
  identity: RunIdentity,
): Promise<Checkpoint | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const checkpoint = parse(text);
  const problem = checkpoint ? difference(checkpoint, identity) : 'it cannot be read';
  if (checkpoint && !problem) return checkpoint;
  throw new CommandFailure(
    `${path} does not fit this run: ${problem}; --restart ignores it and starts at the first line`,
  );
}

/** Replaces the file in one step, so that a killed process leaves the previous checkpoint. */
export async function saveCheckpoint(path: string, checkpoint: Checkpoint): Promise<void> {
  await writeFile(`${path}.next`, `${JSON.stringify(checkpoint)}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.next`, path);
}

export async function removeCheckpoint(path: string): Promise<void> {
  await rm(path, { force: true });
}

function parse(text: string): Checkpoint | undefined {
  try {
    return CHECKPOINT.safeParse(JSON.parse(text)).data;
  } catch {
    // Not JSON. The caller reports any file that is not a checkpoint.
    return undefined;
  }
}

function difference(found: Checkpoint, wanted: RunIdentity): string | undefined {
  const { input } = wanted;
  if (found.input?.sha256 !== input?.sha256 || found.input?.size !== input?.size) {
    return 'the input file has changed';
  }
  if (found.clientId !== wanted.clientId) return `it is of the client ${found.clientId}`;
  return found.url === wanted.url ? undefined : `it is of the service at ${found.url}`;
}

/** Milliseconds between two saves. */
const INTERVAL = 1_000;

export interface CheckpointWriter {
  /** Saves a last time and stops. */
  stop(): Promise<void>;
}

/**
 * Saves a checkpoint at once, so that a problem with the file shows early, and then every second. Saves never overlap.
 *
 * @param path undefined: no checkpoints
 * @param state returns the state of one moment: the done lines, and their counts
 * @param onError called if a save failed; the run should then end
 * @param onSave called before each save
 */
export async function startCheckpoints(
  path: string | undefined,
  state: () => Checkpoint,
  onError: (error: unknown) => void,
  onSave: () => void,
): Promise<CheckpointWriter> {
  if (path === undefined) return { stop: async () => undefined };
  let saving = saveCheckpoint(path, state());
  await saving;
  let idle = true;
  const timer = setInterval(() => {
    if (!idle) return;
    idle = false;
    onSave();
    saving = saveCheckpoint(path, state()).catch(onError);
    void saving.then(() => {
      idle = true;
    });
  }, INTERVAL);
  return {
    stop: async () => {
      clearInterval(timer);
      await saving;
      await saveCheckpoint(path, state());
    },
  };
}

/** Identifies the content of an input file. */
export interface Fingerprint {
  readonly size: number;
  readonly sha256: string;
  /** Number of lines that are not empty, for the remaining time. */
  readonly lines: number;
}

const LINE_FEED = 10;
const BLOCK = 1024 * 1024;

/** Reads the whole file, because after any change in it the line numbers of the checkpoint may be wrong. */
export async function fileFingerprint(path: string): Promise<Fingerprint> {
  const hash = createHash('sha256');
  let size = 0;
  let lines = 0;
  let length = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: BLOCK })) {
    const block: Buffer = chunk;
    hash.update(block);
    size += block.length;
    let start = 0;
    for (let end = block.indexOf(LINE_FEED); end !== -1; end = block.indexOf(LINE_FEED, start)) {
      // A line with one byte is an empty line with a carriage return.
      if (length + end - start > 1) lines += 1;
      length = 0;
      start = end + 1;
    }
    length += block.length - start;
  }
  if (length > 1) lines += 1;
  return { size, sha256: hash.digest('hex'), lines };
}
