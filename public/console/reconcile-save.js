/** Saves the report of a comparison; it is made in the browser. */
import { csvText, sideText } from './reconcile-report.js';
import { mendsText } from './reconcile-rows.js';
import * as state from './reconcile-state.js';
import { RECONCILE } from './reconcile-words.js';
import { say } from './speech.js';

export function saveReport() {
  const { id, kind, yours, here, mends, result } = RECONCILE;
  const head = [id, kind, yours, here, mends, result].map(say);
  const rows = (state.result.value?.rows ?? []).map((row) => {
    const verdict = state.verdicts.value.get(row.externalId);
    return [
      row.externalId,
      row.kinds.map((name) => say(RECONCILE.kinds[name])).join(', '),
      row.yours ? sideText(row.yours) : say(RECONCILE.notInFile),
      row.here ? sideText(row.here) : say(RECONCILE.notHere),
      mendsText(row),
      verdict?.name ? say(RECONCILE.told[verdict.name]) : (verdict?.text ?? ''),
    ];
  });
  const blob = new Blob([csvText([head, ...rows])], { type: 'text/csv;charset=utf-8' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `${say(RECONCILE.reportName)}-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
  // Not at once: the browser reads it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
