/** Which of its three forms a file to reconcile has; nobody has to say it. */
import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { readLines } from '../read-lines';

/**
 * `csv` and `rows` (NDJSON) state a few fields of a matter a line; `pushes` is what
 * `matterctl push` was given.
 */
export type InputForm = 'csv' | 'rows' | 'pushes';

const NDJSON = new Set(['.ndjson', '.jsonl']);

/** The extension decides where it says something, else the first line that is not blank. */
export async function detectForm(path: string): Promise<InputForm> {
  const extension = extname(path).toLowerCase();
  if (extension === '.csv') return 'csv';
  const first = await firstLine(path);
  if (!NDJSON.has(extension) && !first.startsWith('{')) return 'csv';
  // By look, not by parsing: a broken first line is to be reported as one of its form.
  return /"op"\s*:/.test(first) && /"body"\s*:/.test(first) ? 'pushes' : 'rows';
}

async function firstLine(path: string): Promise<string> {
  const input = createReadStream(path);
  try {
    for await (const { bytes } of readLines(input)) {
      const text = bytes?.toString('utf8').trim();
      if (text !== '') return text ?? '';
    }
    return '';
  } finally {
    input.destroy();
  }
}
