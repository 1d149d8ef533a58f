/** Saves the report of a comparison; it is made in the browser. */

import { csvLine, csvOf, download } from '../../kit/save-csv.js';
import { createSlices } from '../../kit/slices.js';
import { say } from '../../kit/speech.js';
import { dateAt } from '../../read/range.js';
import { self } from '../../read/self.js';
import { sideText, verdictText } from './report.js';
import { mendsText } from './rows.js';
import * as state from './state.js';
import { RECONCILE } from './words.js';

export async function saveReport() {
  const { fields, kind, yours, here, mends, step } = RECONCILE;
  const head = [fields.externalId, kind, yours, here, mends, step.result];
  const slices = createSlices();
  const told = state.verdicts.value;
  const parts = [csvOf([head.map(say)])];
  for (const row of state.result.value?.rows ?? []) {
    parts.push(csvLine(cellsOf(row, told.get(row.externalId))));
    if (slices.isDue()) await slices.rest();
  }
  const day = dateAt(Date.now(), self.value?.timeZone ?? 'UTC');
  download(`${say(RECONCILE.reportName)}-${day}.csv`, parts);
}

/** @param {import('./compare.js').Difference} row @param {import('./state.js').Verdict | undefined} verdict */
const cellsOf = (row, verdict) => [
  row.externalId,
  row.kinds.map((name) => say(RECONCILE.kinds[name])).join(', '),
  row.yours ? sideText(row.yours) : say(RECONCILE.notInFile),
  row.here ? sideText(row.here) : say(RECONCILE.notHere),
  mendsText(row),
  verdict ? verdictText(verdict) : '',
];
