/** When pushes were taken up and settled, by the clocks of the servers. */
import type { Violation } from './evidence';
import type { Push } from './pushes';

export function checkSettled(pushes: readonly Push[]): Violation[] {
  return pushes.flatMap((push): Violation[] => {
    const { id, entry, deadline } = push;
    const { state, startedAt, receivedAt } = entry;
    if (state === 'QUEUED') {
      const what = `received ${receivedAt.toISOString()}, still QUEUED: a final state is due`;
      return [{ rule: 'settled', requestId: id, what }];
    }
    if (state !== 'PERSISTED' || beganInTime(push)) return [];
    const started = startedAt?.toISOString() ?? 'never';
    const what = `took effect, taken up ${started}: due by ${new Date(deadline).toISOString()}`;
    return [{ rule: 'late-effect', requestId: id, what }];
  });
}

/** Whether a worker took the push up before its caller stopped waiting. */
export function beganInTime({ entry: { startedAt }, deadline }: Push): boolean {
  return startedAt !== undefined && startedAt.getTime() <= deadline;
}
