/** The pushes of one matter, a line each: what every one of them did to it. */
import { printable } from '../print';
import type { ShownEntry } from '../source/log-source';
import { shortChanges } from './changes-text';
import { resultText } from './entry-cells';
import { staleText } from './entry-details';
import { localTime } from './local-time';

/** Problems of a rejected body that are named. */
const MAX_PROBLEMS = 3;
/** Beside the revision of a push that took effect before one that was received earlier. */
const EARLIER = '*';

export const HISTORY_HEAD = toLine('RECEIVED', 'OP', 'RESULT', 'REV', 'REQUEST ID', 'EFFECT');

export interface HistoryLines {
  /** To be told the pushes in the order of their receipt. */
  add(view: ShownEntry): string;
  /** Whether one took effect after a push that was received later. */
  isOutOfOrder(): boolean;
}

export function createHistoryLines(timeZone: string): HistoryLines {
  let highest = 0;
  let isOutOfOrder = false;
  return {
    add: (view) => {
      const revision = view.revision ?? 0;
      const isLate = revision > 0 && revision < highest;
      isOutOfOrder ||= isLate;
      highest = Math.max(highest, revision);
      return toLine(
        localTime(view.receivedAt, timeZone),
        view.operation,
        resultText(view),
        revision === 0 ? '-' : `${revision}${isLate ? EARLIER : ''}`,
        view.requestId,
        [effectText(view, timeZone), againText(view)].filter(Boolean).join('; '),
      );
    },
    isOutOfOrder: () => isOutOfOrder,
  };
}

const againText = ({ resentFrom, operator }: ShownEntry) =>
  resentFrom === null ? '' : `${resentFrom} sent again by ${operator ?? 'an operator'}`;

/** What a push did, or why it did nothing. */
function effectText(view: ShownEntry, timeZone: string): string {
  const { state, stale, changes, problems, duplicateOf } = view;
  if (state === 'QUEUED') return 'not settled yet';
  if (state === 'EXPIRED') return 'without effect';
  if (state === 'REPLAYED') return `answered as ${duplicateOf}`;
  if (state === 'REFUSED') {
    const named = problems.slice(0, MAX_PROBLEMS).map((it) => `${it.field}: ${it.message}`);
    return [...named, ...(problems.length > MAX_PROBLEMS ? ['…'] : [])].join(', ');
  }
  if (stale) return staleText(view, timeZone) ?? '';
  return changes.length > 0 ? shortChanges(changes, timeZone) : 'changed nothing';
}

function toLine(
  time: string,
  operation: string,
  result: string,
  revision: string,
  requestId: string,
  effect: string,
): string {
  const columns = [
    time.padEnd(23),
    operation.padEnd(6),
    result.padEnd(20),
    revision.padStart(5),
    requestId.padEnd(24),
    effect,
  ];
  return printable(columns.join('  ')).trimEnd();
}
