/** The checkpoint file: lets an interrupted run of the same input go on where it was, with the same run id. */

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
  /** What was pushed; null for standard input, which nobody can recognize. */
  input: z.object({ size: COUNT, sha256: z.string() }).nullable(),
  clientId: z.string(),
  url: z.string(),
  /** All lines up to it are done. */
  doneThrough: COUNT,
  /** Ranges of lines above it that are done too. */
  doneAbove: z.array(z.tuple([COUNT, COUNT]).readonly()),
  /** Bytes of the failure file that belong to the lines that are done. */
  failuresSize: COUNT,
  counts: z.object({
    lines: COUNT,
    failed: COUNT,
    outcomes: COUNTS,
    failures: COUNTS,
    retries: COUNT,
    // Checkpoints of earlier versions have none.
    retryReasons: COUNTS.default({}),
    replayed: COUNT,
    afterFailure: COUNT,
    // Not in checkpoints of older versions.
    warned: COUNT.default(0),
    warnings: COUNTS.default({}),
  }),
});

export type Checkpoint = z.infer<typeof CHECKPOINT>;
export type RunIdentity = Pick<Checkpoint, 'input' | 'clientId' | 'url'>;

/**
 * @returns undefined where there is none: the run starts at the first line
 * @throws CommandFailure where it belongs to another run
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

/** Written whole or not at all: a kill in the middle leaves the one before. */
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
    // Not JSON: told like any other file that is not a checkpoint.
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
  /** Saves a last time, after which nothing is written any more. */
  stop(): Promise<void>;
}

/**
 * Saves at once, which shows early whether it can, and then once a second, never twice at once.
 *
 * @param path undefined: nothing is saved
 * @param state taken in one piece: what is done, and the counts of it
 * @param onError told of a save that failed; the run should end
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

/** Recognizes an input file, and counts its lines for the time left. */
export interface Fingerprint {
  readonly size: number;
  readonly sha256: string;
  /** Lines with something in them. */
  readonly lines: number;
}

const LINE_FEED = 10;
const BLOCK = 1024 * 1024;

/** Reads the whole file once: a change anywhere in it means that line numbers may have moved. */
export async function fingerprintOf(path: string): Promise<Fingerprint> {
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
      // One byte is the carriage return of a blank line.
      if (length + end - start > 1) lines += 1;
      length = 0;
      start = end + 1;
    }
    length += block.length - start;
  }
  if (length > 1) lines += 1;
  return { size, sha256: hash.digest('hex'), lines };
}
