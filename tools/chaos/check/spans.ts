/** Times of faults, and their overlap with requests. */

import { firstWhere } from '../../harness/figures';
import type { Fault, FaultKind, Span } from '../history';

export interface Spans {
  /** Milliseconds of [from, to] that lie in spans. */
  lasted(from: number, to: number): number;
  /** Whether a span overlaps with [from, to]. */
  touch(from: number, to: number): boolean;
  /** The last end of a span at or before a time. */
  lastEnd(time: number): number | undefined;
}

/**
 * Collects the faults of some kinds for each target.
 *
 * @param everywhere additional spans of every target
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

/** Merges overlapping spans, so that no time counts twice. @returns the spans in order */
function join(spans: readonly Span[]): Span[] {
  const joined: { from: number; to: number }[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}

/** A time or a duration of the history for people: whole milliseconds. */
export const shownTime = (ms: number): string => `${Math.round(ms)} ms`;
