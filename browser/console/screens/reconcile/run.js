/** What the reconciliation does, step by step; it can be stopped at any of them. */

import { effect } from '@preact/signals';
import { isHeaderRow } from '../../../../src/files/columns';
import { AskError, ask } from '../../read/ask.js';
import { self } from '../../read/self.js';
import { session } from '../../read/session.js';
import { askOrphans, compareMatters, orphansOf } from './compare.js';
import { comparableBy, compareDigests } from './digest.js';
import { isOf, openIds, withDoubts } from './doubts.js';
import { mappingFor, remember } from './mapping.js';
import { patiently } from './patiently.js';
import { FileError, openFile, readSource } from './read-source.js';
import { inBatches, newRun, sendBatches, toLines } from './send.js';
import * as state from './state.js';

/** @typedef {import('./compare.js').Difference} Difference */
/** @typedef {import('./state.js').Verdict} Verdict */
/** @typedef {import('./state.js').Work} Work */

let stopping = new AbortController();

export const stop = () => stopping.abort();

// Whoever comes next in this tab must not see it, and nothing of it goes on in another one's name.
effect(() => {
  void session.value;
  stop();
  state.forgetFile();
});

/** @param {Work} first @param {(signal: AbortSignal) => Promise<void>} steps */
async function run(first, steps) {
  stopping.abort();
  const own = new AbortController();
  stopping = own;
  state.problem.value = undefined;
  state.work.value = first;
  try {
    await steps(own.signal);
  } catch (error) {
    if (!own.signal.aborted) {
      state.problem.value = error;
      if (error instanceof FileError) state.step.value = 'file';
    }
  }
  // Another run may have begun meanwhile.
  if (stopping === own) state.work.value = undefined;
}

/** @param {File} file */
export const chooseFile = (file) =>
  run({ name: 'read' }, async (signal) => {
    state.forgetFile();
    const opened = await openFile(file, file.name, signal);
    signal.throwIfAborted();
    const first = opened.records[0]?.cells ?? [];
    setOptions({ hasHead: isHeaderRow(first) });
    state.mapping.value = mappingFor(first);
    state.opened.value = opened;
    state.step.value = 'columns';
  });

/** A result of other options would mislead, so it is forgotten. @param {Partial<typeof state.options.value>} changes */
export function setOptions(changes) {
  state.forgetResult();
  state.options.value = { ...state.options.value, ...changes };
}

/** @param {number} column @param {string} field empty: none */
export function mapColumn(column, field) {
  state.forgetResult();
  // A field stands in one column.
  state.mapping.value = state.mapping.value.map((before, at) => {
    if (at === column) return field === '' ? undefined : field;
    return before === field ? undefined : before;
  });
  remember(state.opened.value?.records[0]?.cells ?? [], state.mapping.value);
}

export const compare = () =>
  run({ name: 'read', done: 0 }, async (signal) => {
    const { value: opened } = state.opened;
    const me = self.value;
    if (!opened || !me) return;
    state.forgetResult();
    state.step.value = 'result';
    const concluded = new Set(me.concludedStatuses);
    const { systemCode, timeZone } = me;
    const source = await readSource(opened, {
      mapping: state.mapping.value,
      hasHead: state.options.value.hasHead,
      portal: { systemCode, timeZone, concluded, now: Date.now() },
      onLine: (done) => tell({ name: 'read', done }),
      signal,
    });
    signal.throwIfAborted();
    const result = { source, rows: /** @type {Difference[]} */ ([]), compared: 0 };
    if (source.matters.length === 0) {
      state.result.value = result;
      return;
    }
    await drawHeat(source.matters, timeZone, signal);
    const differences = await differencesOf(source.matters, timeZone, signal);
    const open = await openHere(differences, source, signal);
    const rows = withDoubts(differences, source, openIds(open));
    const orphans = state.options.value.orphans ? orphansOf(open) : [];
    signal.throwIfAborted();
    state.result.value = {
      ...result,
      rows: [...rows, ...orphans],
      compared: source.matters.length,
    };
  });

const tell = (/** @type {Work} */ work) => {
  state.work.value = work;
};

/** One digest of a system is made at a time: without it there is no map, and the comparison goes on. @param {readonly import('./file-rows.js').ExpectedMatter[]} matters @param {string} timeZone @param {AbortSignal} signal */
async function drawHeat(matters, timeZone, signal) {
  if (comparableBy(matters) === 'none') {
    state.heat.value = null;
    return;
  }
  tell({ name: 'digest' });
  const digest = () =>
    ask('matters/digest', {}, signal).catch((error) => {
      if (!(error instanceof AskError) || error.reason !== 'TOO_MANY_QUERIES') throw error;
      return {};
    });
  const { buckets } = await patiently(digest, signal);
  if (!buckets) return;
  const heat = await compareDigests(matters, buckets, { timeZone, signal });
  signal.throwIfAborted();
  state.heat.value = { ...heat, timeZone };
}

/** @param {readonly import('./file-rows.js').ExpectedMatter[]} matters @param {string} timeZone @param {AbortSignal} signal */
function differencesOf(matters, timeZone, signal) {
  const { overwriteNewer, matterType } = state.options.value;
  const total = matters.length;
  const onDone = (/** @type {number} */ done) => tell({ name: 'compare', done, total });
  onDone(0);
  return compareMatters(matters, { timeZone, overwriteNewer, matterType, signal, onDone });
}

/** What is open here and not in the file: to be listed, and because a matter that is missing may be here under another id. @param {readonly Difference[]} rows @param {import('./file-rows.js').Source} source @param {AbortSignal} signal */
async function openHere(rows, { ids }, signal) {
  if (!state.options.value.orphans && !rows.some(isOf('MISSING'))) return [];
  tell({ name: 'orphans' });
  return askOrphans(ids, signal);
}

/** Those that are ticked, in the order of the file. */
const tickedRows = () =>
  (state.result.value?.rows ?? []).filter(
    (row) => state.ticked.value.has(row.externalId) && state.canSend(row),
  );

/** @param {'verify' | 'send'} name @param {AbortSignal} signal */
function startBatches(name, signal) {
  const rows = tickedRows();
  const pushes = rows.flatMap(({ push }) => (push && typeof push === 'object' ? [push] : []));
  const limits = self.value?.limits ?? { batchLines: 1, batchBytes: 0 };
  const batches = inBatches(toLines(pushes, newRun()), limits);
  /** @type {Map<string, Verdict>} */
  const told = new Map();
  tell({ name, done: 0, total: rows.length });
  const take = (
    /** @type {ReadonlyMap<string, import('./send.js').Told>} */ some,
    /** @type {Verdict} */ good,
  ) => {
    signal.throwIfAborted();
    for (const [id, it] of some) told.set(id, it.code === 0 ? good : verdictOf(it));
    state.verdicts.value = new Map([...state.verdicts.value, ...told]);
    tell({ name, done: told.size, total: rows.length });
  };
  state.ended.value = undefined;
  return { rows, batches, told, take };
}

/** @param {import('./send.js').Told} told @returns {Verdict} */
const verdictOf = ({ message, reason, errors = [] }) => {
  const fields = errors.map(({ field, message: text }) => `${field}: ${text}`);
  return { tone: 'bad', reason, message, fields };
};

/** Would they pass? Nothing is written. */
export const tryTicked = () =>
  run({ name: 'verify' }, async (signal) => {
    const { batches, told, take } = startBatches('verify', signal);
    const onTold = (/** @type {any} */ some) => take(some, { tone: 'good', name: 'passes' });
    await sendBatches('verify/batch', batches, { signal, onTold });
    const good = [...told.values()].filter(({ tone }) => tone === 'good').length;
    state.ended.value = { words: 'tried', counts: [good, told.size - good] };
  });

/** Sends them and compares them again. */
export const sendTicked = () =>
  run({ name: 'send' }, async (signal) => {
    const { rows, batches, told, take } = startBatches('send', signal);
    const onTold = (/** @type {any} */ some) => take(some, { tone: 'even', name: 'sent' });
    try {
      await sendBatches('matters/batch', batches, { signal, onTold });
    } finally {
      // Whatever came in between: what was sent is looked at.
      if (!signal.aborted)
        await lookAgain(
          rows.filter(({ externalId }) => told.has(externalId)),
          told,
          signal,
        );
    }
  });

/** @param {readonly Difference[]} rows that were sent @param {Map<string, Verdict>} told @param {AbortSignal} signal */
async function lookAgain(rows, told, signal) {
  const zone = self.value?.timeZone ?? 'UTC';
  const matters = rows.flatMap(({ matter }) => (matter ? [matter] : []));
  const found = await differencesOf(matters, zone, signal);
  signal.throwIfAborted();
  const differing = new Map(found.map((row) => [row.externalId, row]));
  for (const { externalId } of rows) {
    if (!differing.has(externalId)) told.set(externalId, { tone: 'good', name: 'mended' });
    else if (told.get(externalId)?.tone !== 'bad') {
      told.set(externalId, { tone: 'bad', name: 'differs' });
    }
  }
  state.verdicts.value = new Map([...state.verdicts.value, ...told]);
  const { value: result } = state.result;
  if (result) {
    const all = result.rows.map((row) => differing.get(row.externalId) ?? row);
    state.result.value = { ...result, rows: all };
  }
  const left = new Set(state.ticked.value);
  for (const [id, { name }] of told) if (name === 'mended') left.delete(id);
  state.ticked.value = left;
  const count = (/** @type {(it: Verdict) => boolean} */ is) =>
    [...told.values()].filter(is).length;
  const [mended, differs] = [
    count((it) => it.name === 'mended'),
    count((it) => it.name === 'differs'),
  ];
  state.ended.value = { words: 'sent', counts: [mended, told.size - mended - differs, differs] };
}
