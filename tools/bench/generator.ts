/** The generator's process, as its parent sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Round, RoundResult } from './load/generator';
import type { Turning } from './load/window';

export interface Generator {
  readonly pid: number;
  /** @throws Error where the round fails, or the signal's reason */
  run(round: Round, signal: AbortSignal, turning?: Turning): Promise<RoundResult>;
  stop(): Promise<void>;
}

interface Message {
  readonly turn?: 'begin' | 'end';
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
    run: async (round, signal, turning) => {
      const over = new AbortController();
      const answered = new Promise<RoundResult>((resolve, reject) => {
        const hear = ({ turn, result, error }: Message) => {
          if (turn) turning?.(turn);
          if (result) resolve(result);
          if (error !== undefined) reject(new Error(error));
        };
        const giveUp = () => reject(signal.reason);
        child.on('message', hear);
        signal.addEventListener('abort', giveUp, { signal: over.signal });
        over.signal.addEventListener('abort', () => child.off('message', hear));
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
