/** Ctrl-C: the first one stops sending and waits for what is under way, the second cuts it off. */
import { constants } from 'node:os';

export interface Interrupt {
  /** Which signal came, if any. */
  signal(): NodeJS.Signals | undefined;
  dispose(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export function listenForInterrupt(onFirst: () => void, onSecond: () => void): Interrupt {
  let first: NodeJS.Signals | undefined;
  const hear = (signal: NodeJS.Signals) => {
    if (first) onSecond();
    else {
      first = signal;
      onFirst();
    }
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  return {
    signal: () => first,
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, hear);
    },
  };
}

/** Of a command that a signal ended. */
export const exitCodeOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal];
