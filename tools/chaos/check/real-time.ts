/** The effects on one matter in the order of their revisions, held against when they were sent. */
import type { Violation } from './evidence';
import type { Push } from './pushes';
import { shownTime } from './shown-time';

/**
 * From the last revision back: of those that come later, the one that was told soonest is the one
 * that can have been over before the current one was sent.
 *
 * @param effects in the order of their revisions
 */
export function checkRealTime(effects: readonly Push[], externalId: string): Violation[] {
  const violations: Violation[] = [];
  let soonest: Push | undefined;
  for (let i = effects.length - 1; i >= 0; i -= 1) {
    const push = effects[i];
    if (!push) continue;
    if (soonest && soonest.toldAt < push.sentAt) {
      const what =
        `sent at ${shownTime(push.sentAt)}, is revision ${push.entry.revision}: due is one after revision ` +
        `${soonest.entry.revision} (${soonest.id}), which was told at ${shownTime(soonest.toldAt)}`;
      violations.push({ rule: 'real-time', requestId: push.id, externalId, what });
    }
    if (!soonest || push.toldAt < soonest.toldAt) soonest = push;
  }
  return violations;
}
