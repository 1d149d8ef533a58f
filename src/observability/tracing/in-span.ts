/** Work within a span. */
import { type Context, context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';

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
