/**
 * Log lines that anybody can cause as often as they like: the first of a kind are written, the others
 * of that second only counted.
 */
import type { Logger } from '../logger';

/** Lines of one kind in a second; beside them one that counts the rest. */
const MOST = 5;
const SECOND = 1_000;

/** What lines of one kind have in common. */
export interface LineKind {
  readonly level: 'info' | 'warn';
  readonly text: string;
  readonly reason?: string;
  readonly code?: number;
  readonly clientId?: string | undefined;
}

export type TellLine = (kind: LineKind, details: object) => void;

export function createTellLine(logger: Logger): TellLine {
  let tallies = new Map<string, { readonly kind: LineKind; count: number }>();
  const countRest = () => {
    const ended = tallies;
    tallies = new Map();
    for (const { kind, count } of ended.values()) {
      const { level, text, ...about } = kind;
      const untold = count - MOST;
      if (untold > 0) logger[level]({ ...about, untold }, `${text}, and more of them`);
    }
  };
  return (kind, details) => {
    const { level, text, ...about } = kind;
    const key = [level, text, kind.reason, kind.clientId].join('\n');
    if (tallies.size === 0) setTimeout(countRest, SECOND).unref();
    const tally = tallies.get(key) ?? { kind, count: 0 };
    tallies.set(key, tally);
    tally.count += 1;
    if (tally.count <= MOST) logger[level]({ ...about, ...details }, text);
  };
}
