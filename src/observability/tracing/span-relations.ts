/**
 * Determines whether a trace is recorded. Also determines the parent and the links of a span whose work belongs to
 * several traces. Such a span is in one of these traces and has links to the others.
 */
import { type Context, type Link, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';

/** Whether the context belongs to a recorded trace. Only the spans of recorded traces are exported. */
export function isRecorded(traceContext: Context): boolean {
  const flags = trace.getSpanContext(traceContext)?.traceFlags ?? TraceFlags.NONE;
  return (flags & TraceFlags.SAMPLED) !== 0;
}

/** The relations of one span that stands for work of several traces. */
interface SpanRelations {
  /**
   * The first context of a recorded trace. If no trace is recorded, the first context. If there is no context, the root
   * context.
   */
  readonly parent: Context;
  /** Links to the other recorded traces. */
  readonly links: Link[];
}

export function spanRelationsOf(contexts: readonly Context[]): SpanRelations {
  const [first, ...others] = contexts.filter(isRecorded);
  return {
    parent: first ?? contexts[0] ?? ROOT_CONTEXT,
    links: others.flatMap((other) => trace.getSpanContext(other) ?? []).map(linkTo),
  };
}

export const linkTo = (spanContext: Link['context']): Link => ({ context: spanContext });
