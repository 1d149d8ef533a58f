/** Saves the report of a comparison; it is made in the browser. */
import { dateAt } from './range.js';
import { sideText, verdictText } from './reconcile-report.js';
import { mendsText } from './reconcile-rows.js';
import * as state from './reconcile-state.js';
import { RECONCILE } from './reconcile-words.js';
import { csvLine, csvOf, download } from './save-csv.js';
import { self } from './self.js';
import { createSlices } from './slices.js';
import { say } from './speech.js';

export async function saveReport() {
  const { id, kind, yours, here, mends, result } = RECONCILE;
  const slices = createSlices();
  const told = state.verdicts.value;
  const parts = [csvOf([[id, kind, yours, here, mends, result].map(say)])];
  for (const row of state.result.value?.rows ?? []) {
    parts.push(csvLine(cellsOf(row, told.get(row.externalId))));
    if (slices.isDue()) await slices.rest();
  }
  const day = dateAt(Date.now(), self.value?.timeZone ?? 'UTC');
  download(`${say(RECONCILE.reportName)}-${day}.csv`, parts);
}

/** @param {import('./reconcile-compare.js').Difference} row @param {import('./reconcile-state.js').Verdict | undefined} verdict */
const cellsOf = (row, verdict) => [
  row.externalId,
  row.kinds.map((name) => say(RECONCILE.kinds[name])).join(', '),
  row.yours ? sideText(row.yours) : say(RECONCILE.notInFile),
  row.here ? sideText(row.here) : say(RECONCILE.notHere),
  mendsText(row),
  verdict ? verdictText(verdict) : '',
];
