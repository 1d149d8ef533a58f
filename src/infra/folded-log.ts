/**
 * The folded log limits repeated log lines. In each second, it writes only the first lines of each kind (`LineKind`).
 * At the end of the second, it writes the number of suppressed lines.
 */
import type { Logger } from './logger';
import { type Outages, outagesOf, type ServerName } from './outages';

const SECOND = 1_000;
/**
 * Maximum kinds per second that have a count of their own. Above this number, kinds with the same level and text share
 * one count. So even a large number of client ids or reasons produces few lines.
 */
const MAX_KINDS = 200;

/** A kind of log line. Lines with equal level, text, reason and client are of the same kind. */
export interface LineKind {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  readonly reason?: string | undefined;
  readonly code?: number;
  readonly clientId?: string | undefined;
  /** Maximum lines per second that are written; 1 by default. */
  readonly maxPerSecond?: number;
  /**
   * The servers whose outages cause lines of this kind. During a logged outage of one of these servers, the lines have
   * level `debug`.
   */
  readonly dueTo?: readonly ServerName[];
}

/** Writes a log line, or only counts the line if its kind has reached `maxPerSecond` in this second. */
export type LogLine = (kind: LineKind, details: object) => void;

export interface FoldedLogOptions {
  readonly isUnavailable?: Outages['isUnavailable'];
  /** Runs `work` after `ms` milliseconds. Tests replace this function. */
  readonly later?: (ms: number, work: () => void) => void;
}

const logLineByLogger = new WeakMap<Logger, LogLine>();

/** Returns the folded log of a logger. All components of a process use one logger, and so share one folded log. */
export function foldedLog(logger: Logger): LogLine {
  const known = logLineByLogger.get(logger) ?? createFoldedLog(logger, outagesOf(logger));
  logLineByLogger.set(logger, known);
  return known;
}

export function createFoldedLog(logger: Logger, options: FoldedLogOptions = {}): LogLine {
  const { isUnavailable = () => false, later = afterDelay } = options;
  let counts = new Map<string, { readonly kind: LineKind; lines: number }>();

  const write = (
    { level, dueTo, reason, code, clientId }: LineKind,
    details: object,
    text: string,
  ) => {
    const line = {
      ...(clientId !== undefined && { clientId }),
      ...(reason !== undefined && { reason }),
      ...(code !== undefined && { code }),
      ...details,
    };
    logger[dueTo?.some(isUnavailable) ? 'debug' : level](line, text);
  };
  const endSecond = () => {
    const ended = counts;
    counts = new Map();
    for (const { kind, lines } of ended.values()) {
      const suppressed = lines - (kind.maxPerSecond ?? 1);
      if (suppressed > 0) write(kind, { suppressed }, `${kind.text}, and more of them`);
    }
  };
  const countOf = (kind: LineKind) => {
    const known = counts.get(keyOf(kind));
    if (known) return known;
    if (counts.size === 0) later(SECOND, endSecond);
    const { reason, clientId, ...shared } = kind;
    const counted = counts.size < MAX_KINDS ? kind : shared;
    const count = counts.get(keyOf(counted)) ?? { kind: counted, lines: 0 };
    counts.set(keyOf(counted), count);
    return count;
  };
  return (kind, details) => {
    const count = countOf(kind);
    count.lines += 1;
    if (count.lines <= (count.kind.maxPerSecond ?? 1)) write(kind, details, kind.text);
  };
}

const keyOf = ({ level, text, reason, clientId }: LineKind) =>
  [level, text, reason, clientId].join('\n');

const afterDelay = (ms: number, work: () => void) => void setTimeout(work, ms).unref();
