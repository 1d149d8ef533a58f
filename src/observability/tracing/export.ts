/** Sets up the export of spans. The OpenTelemetry library reads the standard OTEL_ variables. */
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

/** Maximum milliseconds to send the remaining spans when the process stops. */
const FLUSH_TIMEOUT = 3_000;
/** Maximum links of a span. */
const MAX_LINKS = 500;
/** Maximum characters of a logged problem. */
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
  // This propagator does not accept baggage from callers.
  provider.register({ propagator: new W3CTraceContextPropagator() });
  return {
    tracing: createTracing(provider.getTracer('matter-push')),
    stop: async () => {
      const flushed = provider.shutdown().catch((error) => reportFailure(String(error)));
      await withTimeout(flushed, FLUSH_TIMEOUT).catch(() => undefined);
    },
  };
}

function reportLibraryWarnings(report: (problem: string) => void): void {
  const nothing = () => undefined;
  const logger = { error: nothing, warn: report, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, DiagLogLevel.WARN);
}

/** Reports failed exports, because the library drops the spans silently. */
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

const INTERVAL = 60_000;

/** Calls `report` at most once a minute. */
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
