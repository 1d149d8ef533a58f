/**
 * The library, set up: where spans go, how many may wait, which are kept. It reads the standard OTEL_
 * variables by itself; settings.ts has looked at those that can be wrong.
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
import { withTimeout } from '../../concurrency/timeout';
import type { RunningTracing, TracingOptions } from './options';
import { createTracing } from './spans';
import { throttle } from './throttle';

/** Milliseconds for what is left when the process ends: a collector that is away must not hold it up. */
const FLUSH_TIMEOUT = 3_000;
/** Of a batch, which serves so many pushes at most. */
const MAX_LINKS = 500;
/** Characters of a problem in the log: a collector may answer with a page. */
const MAX_PROBLEM = 200;

export function startExport({ type, trouble }: TracingOptions): RunningTracing {
  const tellThrottled = () =>
    throttle(
      (problem, untold) => trouble(problem.slice(0, MAX_PROBLEM), untold),
      () => performance.now(),
    );
  const failed = tellThrottled();
  listenToLibrary(tellThrottled());
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': `matter-push-${type}`,
      'service.instance.id': `${hostname()}:${process.pid}`,
    }).merge(detectResources({ detectors: [envDetector] })),
    spanLimits: { linkCountLimit: MAX_LINKS },
    spanProcessors: [new BatchSpanProcessor(telling(new OTLPTraceExporter(), failed))],
  });
  // Baggage is the caller's own text: it goes nowhere from here.
  provider.register({ propagator: new W3CTraceContextPropagator() });
  return {
    tracing: createTracing(provider.getTracer('matter-push')),
    stop: async () => {
      const flushed = provider.shutdown().catch((error) => failed(String(error)));
      // Past it, what is left is lost.
      await withTimeout(flushed, FLUSH_TIMEOUT).catch(() => undefined);
    },
  };
}

/** The library says there what it drops because too much waits. */
function listenToLibrary(tell: (problem: string) => void): void {
  const nothing = () => undefined;
  const logger = { error: nothing, warn: tell, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, DiagLogLevel.WARN);
}

/** Tells why an export failed; without it the library would lose spans in silence. */
function telling(exporter: SpanExporter, failed: (problem: string) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error) failed(`${spans.length} spans not taken: ${result.error.message}`);
        done(result);
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}
