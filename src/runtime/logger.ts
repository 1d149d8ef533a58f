/** Structured logs: one JSON line per event, on stdout. Never bodies, never secrets. */
import pino from 'pino';
import { processName } from './process-name';

export type Logger = pino.Logger;

const SECRET_PATHS = ['secret', '*.secret', 'headers', '*.headers', 'body', '*.body'];

/**
 * @param processType `web`, `worker`, `release`: it stands in every line, as does the process' name
 * @param fields of the moment in which a line is written, to stand in it too
 * @param to where lines go; stdout, where it is absent
 */
export function createLogger(
  processType: string,
  level: string,
  fields?: () => object,
  to: pino.DestinationStream = pino.destination(1),
): Logger {
  const options: pino.LoggerOptions = {
    level,
    ...(fields && { mixin: fields }),
    base: { process: processType, name: processName(processType), pid: process.pid },
    formatters: { log: rounded },
    redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
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
