/** What came out of a comparison, in numbers. */
import type { OperationName } from '../../../src/domain/operation';
import type { Finding } from '../../../src/queries/reconcile/find';
import type { Obstacle, RepushLine } from '../../../src/queries/reconcile/repush';

/** How what the file names and the ledger holds differ; ORPHAN: open here and not in the file. */
export type Kind = Finding | 'ORPHAN';

export interface Counts {
  /** Matters of the file that were compared. */
  readonly compared: number;
  /** Those of them in which nothing differs. */
  readonly equal: number;
  /** Differences by kind; a matter may have several. */
  readonly differences: Readonly<Partial<Record<Kind, number>>>;
  /** Lines of the re-push file, by operation. */
  readonly repushed: Readonly<Partial<Record<OperationName, number>>>;
  /** Those of them that go over something newer here. */
  readonly overwriting: number;
  /** Those of them without a time: they are applied whatever is newer here. */
  readonly untimed: number;
  /** Those of them that the service would reject. */
  readonly wouldFail: number;
  /** Matters that differ and are not in the re-push file, by why. */
  readonly notRepushed: Readonly<Partial<Record<Obstacle, number>>>;
}

export interface Tally {
  /** A matter of the file, with what differs. */
  compared(kinds: readonly Kind[]): void;
  orphan(): void;
  repushed(line: RepushLine, isNewerHere: boolean): void;
  notRepushed(obstacle: Obstacle): void;
  wouldFail(): void;
  counts(): Counts;
}

export function createTally(): Tally {
  const differences = new Map<Kind, number>();
  const lines = new Map<OperationName, number>();
  const obstacles = new Map<Obstacle, number>();
  const plain = { compared: 0, equal: 0, overwriting: 0, untimed: 0, wouldFail: 0 };
  return {
    compared: (kinds) => {
      plain.compared += 1;
      if (kinds.length === 0) plain.equal += 1;
      for (const kind of kinds) count(differences, kind);
    },
    orphan: () => count(differences, 'ORPHAN'),
    repushed: ({ op, body }, isNewerHere) => {
      count(lines, op);
      if (isNewerHere) plain.overwriting += 1;
      if (body.sourceUpdatedAt === undefined) plain.untimed += 1;
    },
    notRepushed: (obstacle) => count(obstacles, obstacle),
    wouldFail: () => {
      plain.wouldFail += 1;
    },
    counts: () => ({
      ...plain,
      differences: Object.fromEntries(differences),
      repushed: Object.fromEntries(lines),
      notRepushed: Object.fromEntries(obstacles),
    }),
  };
}

function count<K>(counts: Map<K, number>, name: K): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
