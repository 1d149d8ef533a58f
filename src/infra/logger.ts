/** The log: one JSON line per event on stdout, without bodies and secrets. */
import { hostname } from 'node:os';
import pino from 'pino';
import { escapeUnprintable } from './log-output';

export type Logger = pino.Logger;

export interface LoggerOptions {
  /** Returns additional fields for each log line, such as the current trace. */
  readonly fields?: () => object;
  readonly name?: string;
  readonly to?: pino.DestinationStream;
}

const SECRET_PATHS = ['secret', '*.secret', 'headers', '*.headers', 'body', '*.body'];

/** @param processType `web`, `worker` or `release` */
export function createLogger(
  processType: string,
  level: string,
  { fields, name = processName(processType), to = pino.destination(1) }: LoggerOptions = {},
): Logger {
  const options: pino.LoggerOptions = {
    level,
    ...(fields && { mixin: fields }),
    base: { process: processType, name, pid: process.pid },
    formatters: { log: rounded },
    redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    // pino escapes only some of the unprintable characters.
    hooks: { streamWrite: (line) => `${escapeUnprintable(line.trimEnd())}\n` },
  };
  return pino(options, to);
}

const DECIMALS = 1_000;

function rounded(line: Record<string, unknown>): Record<string, unknown> {
  let changed: Record<string, unknown> | undefined;
  for (const [field, value] of Object.entries(line)) {
    if (typeof value !== 'number' || !Number.isFinite(value) || Number.isInteger(value)) continue;
    changed ??= { ...line };
    changed[field] = Math.round(value * DECIMALS) / DECIMALS;
  }
  return changed ?? line;
}

/** Maximum characters of the host in a process name. */
const MAX_HOST = 48;

/** @returns for example `worker-app1-4711` */
export function processName(type: string, host = hostname(), pid = process.pid): string {
  return `${type}-${host.replace(/[^\w.-]/g, '_').slice(0, MAX_HOST)}-${pid}`;
}
