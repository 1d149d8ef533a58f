/** An entry as one line of fixed columns: for what comes one by one. */
import { printable } from '../print';
import type { ShownEntry } from '../source/log-source';
import { matterName, resultText, totalTime } from './entry-cells';
import { localTime } from './local-time';

/** The matter comes last: its id may be long, and wide. */
export function entryLine(view: ShownEntry, timeZone: string): string {
  const total = totalTime(view);
  const columns = [
    localTime(view.receivedAt, timeZone),
    view.requestId,
    view.operation.padEnd(6),
    String(view.attempt ?? '-').padStart(2),
    resultText(view).padEnd(20),
    (total === null ? '-' : `${total} ms`).padStart(8),
    matterName(view),
  ];
  return printable(columns.join('  '));
}
