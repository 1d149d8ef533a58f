/** What is said beside the tables about the queue, on stderr. */
import { STUCK, type StuckLane } from '../../queue/stuck';
import type { Tool } from '../tool';

export function tellStuck({ stderr }: Tool, stuck: readonly StuckLane[]): void {
  for (const { lane, why } of stuck) stderr.write(`Lane ${lane} is stuck: ${STUCK[why]}.\n`);
}

export function tellCut({ stderr }: Tool, cutLanes: readonly number[]): void {
  if (cutLanes.length === 0) return;
  stderr.write(
    `Not all were counted: only the oldest pushes of lane ${cutLanes.join(', ')}, there are so many.\n`,
  );
}
