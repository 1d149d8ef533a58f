/** Structured logs: one JSON line per event, on stdout. Never bodies, never secrets. */
import pino from 'pino';

export type Logger = pino.Logger;

const SECRET_PATHS = ['secret', '*.secret', 'headers', '*.headers', 'body', '*.body'];

/**
 * @param processType `web`, `worker`, `release`: it stands in every line
 * @param fields of the moment in which a line is written, to stand in it too
 */
export function createLogger(processType: string, level: string, fields?: () => object): Logger {
  return pino({
    level,
    ...(fields && { mixin: fields }),
    base: { process: processType, pid: process.pid },
    redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
  });
}
