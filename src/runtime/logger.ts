/** Structured logs: one JSON line per event, on stdout. Never bodies, never secrets. */
import pino from 'pino';
import { processName } from './process-name';
import { escapeUnprintable } from './unprintable';

export type Logger = pino.Logger;

export interface LoggerOptions {
  /** Fields of the moment in which a line is written, added to it. */
  readonly fields?: () => object;
  /** The name of the process, from host and pid by default. */
  readonly name?: string;
  /** The destination; stdout by default. */
  readonly to?: pino.DestinationStream;
}

const SECRET_PATHS = ['secret', '*.secret', 'headers', '*.headers', 'body', '*.body'];

/** @param processType `web`, `worker`, `release`: it stands in every line, as does the name of the process */
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
    // Each text is one line with a line feed at its end. JSON itself escapes only some of them.
    hooks: { streamWrite: (line) => `${escapeUnprintable(line.trimEnd())}\n` },
  };
  return pino(options, to);
}

/** Nobody reads the twelfth decimal of a millisecond. */
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
