/** Starts and controls the process that generates the load. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Round, RoundResult } from './load/generator';
import type { BoundaryListener } from './load/window';

export interface Generator {
  readonly pid: number;
  /** @throws Error if the round fails, or the reason of the aborted signal */
  run(round: Round, signal: AbortSignal, onBoundary?: BoundaryListener): Promise<RoundResult>;
  stop(): Promise<void>;
}

interface Message {
  readonly boundary?: 'begin' | 'end';
  readonly result?: RoundResult;
  readonly error?: string;
}

export async function startGenerator(root: string): Promise<Generator> {
  const child: ChildProcess = fork(join(root, 'dist/tools/bench/load/generator.js'));
  const gone = once(child, 'exit');
  const untilGone = gone.then(() => Promise.reject(new Error('the generator ended')));
  untilGone.catch(() => undefined);
  await Promise.race([once(child, 'message'), untilGone]);
  return {
    pid: Number(child.pid),
    run: async (round, signal, onBoundary) => {
      const over = new AbortController();
      const answered = new Promise<RoundResult>((resolve, reject) => {
        const onMessage = ({ boundary, result, error }: Message) => {
          if (boundary) onBoundary?.(boundary);
          if (result) resolve(result);
          if (error !== undefined) reject(new Error(error));
        };
        const onAbort = () => reject(signal.reason);
        child.on('message', onMessage);
        signal.addEventListener('abort', onAbort, { signal: over.signal });
        over.signal.addEventListener('abort', () => child.off('message', onMessage));
      });
      try {
        signal.throwIfAborted();
        child.send(round);
        return await Promise.race([answered, untilGone]);
      } finally {
        over.abort();
      }
    },
    stop: async () => {
      if (!child.connected) return;
      child.disconnect();
      await gone;
    },
  };
}
