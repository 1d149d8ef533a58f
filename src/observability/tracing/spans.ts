/** The spans of the way of a push, made with the library's interface. */
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { TraceHeaders, Tracing } from '../../telemetry/tracing';
import { traceBatch } from './batch-spans';
import { watchCommands } from './commands';
import { familyOf, inSpan } from './in-span';
import { openRequest } from './request-span';

/** @param tracer of a provider that is registered: what is under way here is asked of the library */
export function createTracing(tracer: Tracer): Tracing {
  return {
    logFields: () => {
      const traceId = trace.getSpanContext(context.active())?.traceId;
      return traceId === undefined ? {} : { traceId };
    },
    request: (method, route, headers) => openRequest(tracer, method, route, headers),
    here: () => context.active(),
    together: (name, points, work) => {
      // Whoever runs it may be at work on something else.
      const { parent, links } = familyOf(points as readonly Context[]);
      if (!trace.getSpanContext(parent)) return context.with(ROOT_CONTEXT, work);
      const attributes = { 'matter_push.batch.size': points.length };
      return inSpan(tracer.startSpan(name, { attributes, links }, parent), parent, work);
    },
    send: (work) => {
      const parent = context.active();
      const span = tracer.startSpan('queue', { kind: SpanKind.PRODUCER }, parent);
      const carried: TraceHeaders = {};
      propagation.inject(trace.setSpan(parent, span), carried);
      return inSpan(span, parent, () => work(carried));
    },
    batch: (batch, apply) => traceBatch(tracer, batch, apply),
    watchCommands: (client) => watchCommands(tracer, client),
  };
}
