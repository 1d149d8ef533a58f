/**
 * The spans of a batch: its own, which has the commands of the database, and one for each of its
 * pushes.
 */
import {
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type Tracer,
} from '@opentelemetry/api';
import type { TracedBatch, TracedPush, TracedReply } from '../../telemetry/tracing';
import { familyOf, inSpan, isRecorded, linkTo, noteFailure } from './in-span';

export async function traceBatch<R extends TracedReply>(
  tracer: Tracer,
  { now, records }: TracedBatch,
  apply: () => Promise<R[]>,
): Promise<R[]> {
  const pushes = records.flatMap(({ pushes }) => pushes);
  const traced = pushes.filter((push) => push.trace !== undefined);
  if (traced.length === 0) return apply();
  const places = new Map(traced.map((push) => [push, placeOf(push)]));
  const { parent, links } = familyOf([...places.values()]);
  const attributes = {
    'matter_push.partitions': records.map(({ partition }) => partition),
    'matter_push.batch.size': pushes.length,
  };
  const options = { kind: SpanKind.CONSUMER, attributes, links };
  const batch = tracer.startSpan('batch', options, parent);
  const spans = new Map<string, Span>();
  for (const [push, place] of places) {
    if (isRecorded(place)) spans.set(push.id, startPush(tracer, push, { now, place, batch }));
  }
  try {
    const replies = await inSpan(batch, parent, apply);
    for (const { id, settlement } of replies) noteEnd(spans.get(id), settlement);
    return replies;
  } catch (error) {
    // The batch is run again: the trace has it twice then.
    for (const span of spans.values()) noteFailure(span, error);
    throw error;
  } finally {
    for (const span of spans.values()) span.end();
  }
}

const placeOf = ({ trace: headers }: TracedPush): Context =>
  propagation.extract(ROOT_CONTEXT, headers);

function startPush(
  tracer: Tracer,
  { id, queuedAt, operation }: TracedPush,
  { now, place, batch }: { readonly now: number; readonly place: Context; readonly batch: Span },
): Span {
  const attributes = {
    'matter_push.request_id': id,
    'matter_push.waited_ms': Math.max(0, now - queuedAt),
  };
  const links = [linkTo(batch.spanContext())];
  return tracer.startSpan(`apply ${operation.op}`, { attributes, links }, place);
}

function noteEnd(span: Span | undefined, { state, outcome, reason }: TracedReply['settlement']) {
  span?.setAttributes({
    'matter_push.state': state,
    ...(outcome !== undefined && { 'matter_push.outcome': outcome }),
    ...(reason !== undefined && { 'matter_push.reason': reason }),
  });
}
