/** Creates OpenTelemetry spans for requests, pushes, and calls that handle several pushes. */
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type {
  RequestEnd,
  TracedBatch,
  TracedPush,
  TracedReply,
  TracedRequest,
  TraceHeaders,
  Tracing,
} from '../tracing';
import { traceCommands } from './command-spans';
import { isSampled, linkTo, spanRelationsOf } from './span-relations';

/** @param tracer a tracer of a registered provider */
export function createTracing(tracer: Tracer): Tracing {
  return {
    logFields: () => {
      const traceId = trace.getSpanContext(context.active())?.traceId;
      return traceId === undefined ? {} : { traceId };
    },
    request: (method, route, headers) => startRequest(tracer, method, route, headers),
    here: () => context.active(),
    together: (name, points, work) => {
      const { parent, links } = spanRelationsOf(points as readonly Context[]);
      // If `parent` has no span, `work` runs in an empty context: the active context can belong to another request.
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
    traceCommands: (client) => traceCommands(tracer, client),
  };
}

function startRequest(
  tracer: Tracer,
  method: string,
  route: string,
  headers: TraceHeaders,
): TracedRequest {
  const parent = propagation.extract(ROOT_CONTEXT, headers);
  const attributes = { 'http.request.method': method, 'http.route': route };
  const options = { kind: SpanKind.SERVER, attributes };
  const span = tracer.startSpan(`${method} ${route}`, options, parent);
  return {
    traceId: span.spanContext().traceId,
    run: (answer) => context.with(trace.setSpan(parent, span), answer),
    end: (result) => {
      span.setAttributes(attributesOfEnd(result));
      // A code below 500 is an error of the caller.
      if (result.rejection && result.rejection.code >= 500)
        span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function attributesOfEnd({ requestId, clientId, status, outcome, rejection }: RequestEnd) {
  return {
    'http.response.status_code': status,
    'matter_push.request_id': requestId,
    ...(clientId !== undefined && { 'matter_push.client_id': clientId }),
    ...(outcome !== undefined && { 'matter_push.outcome': outcome }),
    ...(rejection && { 'error.type': rejection.reason }),
  };
}

async function traceBatch<R extends TracedReply>(
  tracer: Tracer,
  { now, records }: TracedBatch,
  apply: () => Promise<R[]>,
): Promise<R[]> {
  const pushes = records.flatMap(({ pushes }) => pushes);
  const traced = pushes.filter((push) => push.trace !== undefined);
  if (traced.length === 0) return apply();
  const contexts = new Map(traced.map((push) => [push, contextOf(push)]));
  const { parent, links } = spanRelationsOf([...contexts.values()]);
  const attributes = {
    'matter_push.partitions': records.map(({ partition }) => partition),
    'matter_push.batch.size': pushes.length,
  };
  const options = { kind: SpanKind.CONSUMER, attributes, links };
  const batch = tracer.startSpan('batch', options, parent);
  const spans = new Map<string, Span>();
  for (const [push, pushContext] of contexts) {
    if (!isSampled(pushContext)) continue;
    spans.set(push.id, startPush(tracer, push, { now, parent: pushContext, batch }));
  }
  try {
    const replies = await inSpan(batch, parent, apply);
    for (const { id, settlement } of replies) recordResult(spans.get(id), settlement);
    return replies;
  } catch (error) {
    for (const span of spans.values()) recordFailure(span, error);
    throw error;
  } finally {
    for (const span of spans.values()) span.end();
  }
}

const contextOf = ({ trace: headers }: TracedPush): Context =>
  propagation.extract(ROOT_CONTEXT, headers);

function startPush(
  tracer: Tracer,
  { id, queuedAt, operation }: TracedPush,
  { now, parent, batch }: { readonly now: number; readonly parent: Context; readonly batch: Span },
): Span {
  const attributes = {
    'matter_push.request_id': id,
    'matter_push.waited_ms': Math.max(0, now - queuedAt),
  };
  const links = [linkTo(batch.spanContext())];
  return tracer.startSpan(`apply ${operation.op}`, { attributes, links }, parent);
}

function recordResult(
  span: Span | undefined,
  { state, outcome, reason }: TracedReply['settlement'],
) {
  span?.setAttributes({
    'matter_push.state': state,
    ...(outcome !== undefined && { 'matter_push.outcome': outcome }),
    ...(reason !== undefined && { 'matter_push.reason': reason }),
  });
}

async function inSpan<T>(span: Span, parent: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (error) {
    recordFailure(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Omits the error message, because a message of the database can contain values of a push. */
function recordFailure(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
