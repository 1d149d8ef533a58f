/** From a file that somebody chose to what it says of matters; nothing of it leaves the browser. */
import { fieldsOf } from '../../../../src/files/cells';
import { CsvError, CsvReader } from '../../../../src/files/csv';
import { createSlices } from '../../kit/slices.js';
import { createRowTaker, Gathered } from './file-rows.js';
import { createPushTaker, isObject } from './push-file.js';
import { encodingOf, linesOf, piecesOf } from './text-file.js';

/** @typedef {import('./file-rows.js').Source} Source */
/** @typedef {import('./push-file.js').Portal} Portal */
/** @typedef {import('../../../../src/files/csv').CsvRecord} Rec */
/** @typedef {import('../../../../src/files/encodings').EncodingProblem['why']} WrongEncoding */
/**
 * @typedef {object} Opened
 * @property {string} name
 * @property {string} encoding
 * @property {'csv' | 'rows' | 'pushes'} form
 * @property {readonly Rec[]} records of a CSV file, its head included
 * @property {Blob} file
 */

/** More are a task for matterctl: all of them are held in the memory of the tab. */
export const MAX_RECORDS = 300_000;
const MAX_BYTES = 512 * 1024 * 1024;

/** Why nothing of a file can be read. */
export class FileError extends Error {
  /** @param {'empty' | 'quote' | 'record' | 'large' | 'changed' | WrongEncoding} why @param {number} [line] @param {string} [sample] how the line reads */
  constructor(why, line = 0, sample = '') {
    super(`${why} ${line}`);
    this.name = 'FileError';
    this.why = why;
    this.line = line;
    this.sample = sample;
  }
}

/** @param {Blob} file @param {string} name @param {AbortSignal} [signal] @returns {Promise<Opened>} @throws {FileError} */
export async function openFile(file, name, signal) {
  if (file.size > MAX_BYTES) throw new FileError('large');
  const { encoding, problem } = await encodingOf(file);
  if (problem) throw new FileError(problem.why, problem.line, problem.sample);
  const first = await firstLine(file, encoding);
  if (first === '') throw new FileError('empty');
  const form = formOf(name, first);
  const records = form === 'csv' ? await readRecords(file, encoding, signal) : [];
  return { name, encoding, form, records, file };
}

/** @param {Blob} file @param {string} encoding the first line that is not blank */
async function firstLine(file, encoding) {
  for await (const line of linesOf(piecesOf(file, encoding))) {
    if (line.trim() !== '') return line;
  }
  return '';
}

/** By look, not by parsing: a broken line is told as one of its form. @param {string} name @param {string} first */
function formOf(name, first) {
  const isLines = /\.(ndjson|jsonl)$/i.test(name);
  if (/\.csv$/i.test(name) || (!isLines && !first.trimStart().startsWith('{'))) return 'csv';
  // In a failure file they stand in a text.
  return /"op\\?"\s*:/.test(first) && /"body\\?"\s*:/.test(first) ? 'pushes' : 'rows';
}

/** @param {Blob} file @param {string} encoding @param {AbortSignal} [signal] */
async function readRecords(file, encoding, signal) {
  /** @type {Rec[]} */
  const records = [];
  const reader = new CsvReader((record) => records.push(record));
  const slices = createSlices(signal);
  try {
    for await (const piece of piecesOf(file, encoding)) {
      for (let at = 0; at < piece.length; at += 65_536) {
        reader.take(piece.slice(at, at + 65_536));
        if (records.length > MAX_RECORDS) throw new FileError('large');
        if (slices.isDue()) await slices.rest();
      }
    }
    reader.end();
  } catch (error) {
    throw error instanceof CsvError ? new FileError(error.why, error.line) : error;
  }
  if (records.length === 0) throw new FileError('empty');
  return records;
}

/**
 * @param {Opened} opened
 * @param {{ mapping: import('./mapping.js').Mapping, hasHead: boolean, portal: Portal, onLine: (count: number) => void, signal?: AbortSignal }} reading
 * @returns {Promise<Source & { lines: number }>} `lines`: without the head and blank lines
 */
export async function readSource(opened, { mapping, hasHead, portal, onLine, signal }) {
  await refuseChanged(opened.file);
  const slices = createSlices(signal);
  const { take, finish } = createTaker(opened, mapping, portal);
  const lines = opened.form === 'csv' ? opened.records.slice(hasHead ? 1 : 0) : numbered(opened);
  let count = 0;
  for await (const line of lines) {
    take(line);
    count += 1;
    if (!slices.isDue()) continue;
    onLine(count);
    await slices.rest();
  }
  onLine(count);
  return { ...finish(), lines: count };
}

/** A browser reads nothing of a file that was written anew since it was chosen. @param {Blob} file @throws {FileError} */
async function refuseChanged(file) {
  await file
    .slice(0, 1)
    .arrayBuffer()
    .catch(() => {
      throw new FileError('changed');
    });
}

/** @param {Opened} opened */
async function* numbered({ file, encoding }) {
  let line = 0;
  for await (const text of linesOf(piecesOf(file, encoding))) {
    line += 1;
    if (line > MAX_RECORDS) throw new FileError('large');
    if (text.trim() !== '') yield { text, line };
  }
}

/** @param {Opened} opened @param {import('./mapping.js').Mapping} mapping @param {Portal} portal */
function createTaker({ form }, mapping, portal) {
  const rows = createRowTaker(portal.timeZone);
  const pushes = createPushTaker(portal);
  const taker = form === 'pushes' ? pushes : rows;
  const take = (/** @type {any} */ record) => {
    const { cells, text, line } = record;
    if (cells) {
      const fields = fieldsOf(record, mapping);
      if (fields) rows.take(fields, line);
      else {
        const about = `${cells.length} > ${mapping.length}`;
        rows.gathered.leaveOut([{ line, wrong: 'cells', about }], undefined);
      }
      return;
    }
    const json = jsonOf(text);
    if (json === undefined) leaveOut(taker.gathered, line);
    else taker.take(json, line);
  };
  const finish = () => (form === 'pushes' ? pushes.source() : rows.gathered.source());
  return { take, finish };
}

/** @param {Gathered} gathered @param {number} line */
const leaveOut = (gathered, line) =>
  gathered.leaveOut([{ line, wrong: 'json', about: '' }], undefined);

/** @param {string} text @returns {any} undefined: no JSON object */
function jsonOf(text) {
  try {
    const json = JSON.parse(text);
    return isObject(json) ? json : undefined;
  } catch {
    // Told as what it is.
    return undefined;
  }
}
