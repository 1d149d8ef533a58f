/**
 * Sets up the export of spans with OpenTelemetry. The library reads the standard OTEL_ variables itself.
 * `infra/settings/tracing.ts` checks these variables.
 */
import { hostname } from 'node:os';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import { withTimeout } from '../../concurrency/timing';
import type { RunningTracing, TracingOptions } from '../options';
import { createTracing } from './spans';

/** Maximum milliseconds for which a stopping process waits for the collector to receive the remaining spans. */
const FLUSH_TIMEOUT = 3_000;
/** Maximum links of a span. The span of a batch is in the trace of one push and has links to the other traces. */
const MAX_LINKS = 500;
/** Maximum characters of a problem in the log, because a collector can answer with a whole web page. */
const MAX_PROBLEM = 200;

export function startOpenTelemetry({ type, onProblem }: TracingOptions): RunningTracing {
  const createReport = () =>
    throttle(
      (problem, suppressed) => onProblem(problem.slice(0, MAX_PROBLEM), suppressed),
      () => performance.now(),
    );
  const reportFailure = createReport();
  reportLibraryWarnings(createReport());
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': `matter-push-${type}`,
      'service.instance.id': `${hostname()}:${process.pid}`,
    }).merge(detectResources({ detectors: [envDetector] })),
    spanLimits: { linkCountLimit: MAX_LINKS },
    spanProcessors: [new BatchSpanProcessor(withReport(new OTLPTraceExporter(), reportFailure))],
  });
  // The propagator ignores baggage, because callers choose its text.
  provider.register({ propagator: new W3CTraceContextPropagator() });
  return {
    tracing: createTracing(provider.getTracer('matter-push')),
    stop: async () => {
      const flushed = provider.shutdown().catch((error) => reportFailure(String(error)));
      // After the timeout, the remaining spans are lost.
      await withTimeout(flushed, FLUSH_TIMEOUT).catch(() => undefined);
    },
  };
}

/** Reports the warnings of the library, for example a warning that it drops spans because too many spans wait. */
function reportLibraryWarnings(report: (problem: string) => void): void {
  const nothing = () => undefined;
  const logger = { error: nothing, warn: report, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, DiagLogLevel.WARN);
}

/** Reports why an export failed. The library itself drops the spans without a report. */
function withReport(exporter: SpanExporter, report: (problem: string) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error) report(`${spans.length} spans not exported: ${result.error.message}`);
        done(result);
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Minimum milliseconds between two reports. */
const INTERVAL = 60_000;

/**
 * Limits the calls of `report` to one a minute.
 *
 * @param report also gets the number of calls that were suppressed since `report` was last called
 * @param clock a monotonic clock in milliseconds
 * @returns a function that calls `report` at once, or only counts the call if `report` was called in the last minute
 */
export function throttle(
  report: (what: string, suppressed: number) => void,
  clock: () => number,
): (what: string) => void {
  let last = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return (what) => {
    if (clock() - last < INTERVAL) {
      suppressed += 1;
      return;
    }
    report(what, suppressed);
    last = clock();
    suppressed = 0;
  };
}
