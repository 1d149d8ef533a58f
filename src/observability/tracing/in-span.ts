/** Work within a span, and where its span belongs: one parent, and links for all others that it serves. */
import {
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';

/** Runs it; the span ends with it. */
export async function inSpan<T>(span: Span, parent: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (error) {
    noteFailure(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Its class alone: messages of the database hold values of the push. */
export function noteFailure(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** In a trace that is recorded. */
export function isRecorded(place: Context): boolean {
  const flags = trace.getSpanContext(place)?.traceFlags ?? TraceFlags.NONE;
  return (flags & TraceFlags.SAMPLED) !== 0;
}

export interface Family {
  /** In the first trace that is recorded, else in the first one, else nowhere. */
  readonly parent: Context;
  readonly links: Link[];
}

export function familyOf(places: readonly Context[]): Family {
  const [first, ...others] = places.filter(isRecorded);
  return {
    parent: first ?? places[0] ?? ROOT_CONTEXT,
    links: others.flatMap((place) => trace.getSpanContext(place) ?? []).map(linkTo),
  };
}

export const linkTo = (context: Link['context']): Link => ({ context });
