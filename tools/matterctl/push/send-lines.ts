/** Sends all lines of a file in batches. It keeps the order of the lines of each matter. */
import { setMaxListeners } from 'node:events';
import { Dispatcher } from '../../client/dispatcher';
import { readAhead } from '../run-ordered';
import { FileLine } from './file-line';
import type { Pace } from './pace';
import type { BadLine, PushLine } from './push-line';
import type { LineEnds } from './push-work';
import { type BatchSender, waitFor } from './send-batch';

export interface LineSending {
  /** Prefix of the idempotency keys of lines without their own key. */
  readonly runId: string;
  /** In a dry run, pushes have no effect, so lines of one matter need no order. */
  readonly dryRun: boolean;
  readonly batches: BatchSender;
  readonly pace: Pace;
  readonly ends: LineEnds;
  /** Its abort ends the run. The reason is the failure of the run. */
  readonly stop: AbortController;
}

/** Maximum lines that are read but have no result, and maximum bytes of them. */
const WINDOW_LINES = 10_000;
const WINDOW_BYTES = 64 * 1024 * 1024;

/**
 * Resolves when all sent lines have a result. After a stop, some lines are not sent.
 *
 * @throws the error of the source, or the failure of the run
 */
export async function sendLines(
  source: AsyncIterable<PushLine | BadLine>,
  { runId, dryRun, batches, pace, ends, stop }: LineSending,
): Promise<void> {
  // Every waiting batch listens to the signal, so there can be more listeners than the default limit.
  setMaxListeners(0, stop.signal);
  const waiting = new Set<FileLine>();
  const limits = () => {
    const { requests } = pace.limits();
    const allowed = stop.signal.aborted ? 0 : requests;
    return {
      requests: allowed,
      batches: allowed,
      lines: batches.maxLines(),
      bytes: batches.maxBytes(),
    };
  };
  const dispatcher = new Dispatcher<FileLine>(limits, async (lines) => {
    for (const line of lines) waiting.delete(line);
    const left = await batches.send(lines).catch((error) => stop.abort(error));
    const again = left?.again ?? [];
    const isAgain = new Set(again);
    const over = lines.filter((line) => !isAgain.has(line));
    for (const line of over) line.left();
    dispatcher.end(over);
    void sendAgain(again, left?.wait ?? 0);
  });
  const sendAgain = async (again: readonly FileLine[], wait: number) => {
    if (wait > 0) await waitFor(wait, stop.signal);
    if (stop.signal.aborted) for (const line of again) line.left();
    else {
      for (const line of again) waiting.add(line);
      dispatcher.again(again);
    }
  };
  // Lines that are read in one tick are added together, so that they can be in one batch.
  let gathered: FileLine[] = [];
  const enter = () => {
    const lines = gathered;
    gathered = [];
    dispatcher.add(lines);
  };
  const leaveAll = () => {
    for (const line of waiting) line.left();
  };
  stop.signal.addEventListener('abort', leaveAll, { once: true });
  await readAhead(source, {
    weightOf: (line) => 1 / WINDOW_LINES + (2 * line.text.length) / WINDOW_BYTES,
    stop,
    work: async (line) => {
      if (!('op' in line)) ends.unreadable(line);
      else if (!stop.signal.aborted) {
        await new Promise<void>((left) => {
          const pending = new FileLine(line, `${runId}-${line.number}`, !dryRun, left);
          waiting.add(pending);
          if (gathered.push(pending) === 1) setImmediate(enter);
        });
      }
    },
  });
}
