/** The generator's process, as its parent sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Round, RoundResult } from './load/run-round';

export interface Generator {
  readonly pid: number;
  /** @throws Error where the round fails, or the signal's reason */
  run(round: Round, signal: AbortSignal): Promise<RoundResult>;
  stop(): Promise<void>;
}

interface Answer {
  readonly result?: RoundResult;
  readonly error?: string;
}

export async function startGenerator(root: string): Promise<Generator> {
  const child: ChildProcess = fork(join(root, 'dist/bench/load/generator.js'));
  await once(child, 'message');
  return {
    pid: Number(child.pid),
    run: async (round, signal) => {
      child.send(round);
      const ended = once(child, 'exit', { signal }).then(() => [{ error: 'the generator ended' }]);
      const answered = once(child, 'message', { signal });
      const [answer] = (await Promise.race([answered, ended])) as [Answer];
      if (answer.result === undefined) throw new Error(answer.error);
      return answer.result;
    },
    stop: async () => {
      if (!child.connected) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
