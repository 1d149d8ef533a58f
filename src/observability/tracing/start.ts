/** Traces of a process: where TRACING is on. Otherwise nothing is loaded. */
import type { RunningTracing, TracingOptions } from './options';

/** @returns undefined where tracing is off */
export async function startTracing(options: TracingOptions): Promise<RunningTracing | undefined> {
  if (!options.on) return undefined;
  const { startExport } = await import('./export.js');
  return startExport(options);
}
