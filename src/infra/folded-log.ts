/** Limits the log lines of each `LineKind` per second, and logs the number of suppressed lines. */
import type { Logger } from './logger';
import { type Outages, outagesOf, type ServerName } from './outages';

const SECOND = 1_000;
/** Maximum kinds with a separate count in one second. Further kinds with the same level and text share one count. */
const MAX_KINDS = 200;

/** Two lines have the same kind if level, text, reason and client are equal. */
export interface LineKind {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  readonly reason?: string | undefined;
  readonly code?: number;
  readonly clientId?: string | undefined;
  /** Maximum lines per second that are written; 1 by default. */
  readonly maxPerSecond?: number;
  /** During an outage of one of these servers, lines of this kind have level `debug`. */
  readonly dueTo?: readonly ServerName[];
}

export type LogLine = (kind: LineKind, details: object) => void;

export interface FoldedLogOptions {
  readonly isUnavailable?: Outages['isUnavailable'];
  readonly later?: (ms: number, work: () => void) => void;
}

const logLineByLogger = new WeakMap<Logger, LogLine>();

/** All components with the same logger share one folded log. */
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
      if (suppressed > 0) write(kind, { suppressed }, `${kind.text}: lines suppressed`);
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
