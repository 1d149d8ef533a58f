/** The span of a request: from its head until its answer is gone. */
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { RequestEnd, TracedRequest, TraceHeaders } from '../../telemetry/tracing';

export function openRequest(
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
    end: (how) => {
      span.setAttributes(attributesOf(how));
      // A rejection is the caller's fault, as far as the server is concerned.
      if (how.rejection && how.rejection.code >= 500)
        span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function attributesOf({ requestId, clientId, status, outcome, rejection }: RequestEnd) {
  return {
    'http.response.status_code': status,
    'matter_push.request_id': requestId,
    ...(clientId !== undefined && { 'matter_push.client_id': clientId }),
    ...(outcome !== undefined && { 'matter_push.outcome': outcome }),
    ...(rejection && { 'error.type': rejection.reason }),
  };
}
