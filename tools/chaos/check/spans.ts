/** Times of faults: how long, and whether at all, one of them lasted during a request. */

import { firstWhere } from '../../harness/figures';
import type { Fault, FaultKind, Span } from '../history';

export interface Spans {
  /** Milliseconds of [from, to] that lie in a span. */
  lasted(from: number, to: number): number;
  /** Whether a span has at least an instant in common with [from, to]. */
  touch(from: number, to: number): boolean;
  /** The last end of a span that is not after a time. */
  lastEnd(time: number): number | undefined;
}

/**
 * The faults of some kinds, for each target.
 *
 * @param everywhere spans that every target has besides its own
 * @returns a function from target to its spans
 */
export function spansOf(
  faults: readonly Fault[],
  kinds: readonly FaultKind[],
  everywhere: readonly Span[] = [],
): (target: string) => Spans {
  const byTarget = new Map<string, Span[]>();
  for (const fault of faults) {
    if (!kinds.includes(fault.kind)) continue;
    const known = byTarget.get(fault.target);
    if (known) known.push(fault);
    else byTarget.set(fault.target, [...everywhere, fault]);
  }
  const spans = new Map([...byTarget].map(([target, of]) => [target, createSpans(of)]));
  const others = createSpans(everywhere);
  return (target) => spans.get(target) ?? others;
}

export function createSpans(of: readonly Span[]): Spans {
  const apart = join(of);
  const firstAfter = (time: number) => firstWhere(apart.length, (i) => (apart[i]?.to ?? 0) >= time);
  return {
    lasted: (from, to) => {
      let sum = 0;
      for (let i = firstAfter(from); i < apart.length; i += 1) {
        const span = apart[i];
        if (!span || span.from >= to) break;
        sum += Math.min(span.to, to) - Math.max(span.from, from);
      }
      return sum;
    },
    touch: (from, to) => {
      const span = apart[firstAfter(from)];
      return span !== undefined && span.from <= to;
    },
    lastEnd: (time) => apart[firstWhere(apart.length, (i) => (apart[i]?.to ?? 0) > time) - 1]?.to,
  };
}

/** Overlapping spans become one, so that nothing counts twice. @returns in their order */
function join(spans: readonly Span[]): Span[] {
  const joined: { from: number; to: number }[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}

/** A time or a length of the history as people read it: whole milliseconds. */
export const shownTime = (ms: number): string => `${Math.round(ms)} ms`;
