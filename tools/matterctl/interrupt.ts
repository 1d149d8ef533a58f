/** Handles Ctrl-C: after the first one, the command sends nothing new and waits for answers; the second one ends it. */
import { constants } from 'node:os';

export interface Interrupt {
  /** The first signal that was received, if any. */
  signal(): NodeJS.Signals | undefined;
  dispose(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export function listenForInterrupt(onFirst: () => void, onSecond: () => void): Interrupt {
  let first: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (first) onSecond();
    else {
      first = signal;
      onFirst();
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signal: () => first,
    dispose: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

/** The exit code of a command that a signal has ended. */
export const exitCodeOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal];
