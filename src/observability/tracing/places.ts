/** Where spans belong: one parent, and links for all others that the same work serves. */
import { type Context, type Link, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';

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
