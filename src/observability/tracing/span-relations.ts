/** Parent and links of a span whose work belongs to several traces. */
import { type Context, type Link, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';

/** Whether sampling has selected the trace for export. */
export function isSampled(traceContext: Context): boolean {
  const flags = trace.getSpanContext(traceContext)?.traceFlags ?? TraceFlags.NONE;
  return (flags & TraceFlags.SAMPLED) !== 0;
}

interface SpanRelations {
  /** The first recorded context. If none is recorded: the first context. If there is no context: the root context. */
  readonly parent: Context;
  /** Links to the other recorded traces. */
  readonly links: Link[];
}

export function spanRelationsOf(contexts: readonly Context[]): SpanRelations {
  const [first, ...others] = contexts.filter(isSampled);
  return {
    parent: first ?? contexts[0] ?? ROOT_CONTEXT,
    links: others.flatMap((other) => trace.getSpanContext(other) ?? []).map(linkTo),
  };
}

export const linkTo = (spanContext: Link['context']): Link => ({ context: spanContext });
