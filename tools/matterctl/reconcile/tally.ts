/** Counts the results of a comparison. */
import type { OperationName } from '../../../src/domain/operation';
import type { MatterFinding } from '../../../src/queries/reconcile/find';
import type { Obstacle, RepushLine } from '../../../src/queries/reconcile/repush';

/** How a matter differs between file and ledger. ORPHAN: it is open in the ledger and not in the file. */
export type FindingKind = MatterFinding | 'ORPHAN';

export interface DifferenceCounts {
  /** Matters of the file that were compared. */
  readonly compared: number;
  /** Compared matters without a difference. */
  readonly equal: number;
  /** Differences by kind; a matter may have several. */
  readonly differences: Readonly<Partial<Record<FindingKind, number>>>;
  /** Lines of the re-push file, by operation. */
  readonly repushed: Readonly<Partial<Record<OperationName, number>>>;
  /** Lines of the re-push file whose matter is newer in the ledger. */
  readonly overwriting: number;
  /** Lines of the re-push file without a time. The service applies them even if the ledger is newer. */
  readonly untimed: number;
  /** Lines of the re-push file that the service would reject. */
  readonly wouldFail: number;
  /** Matters that differ and have no line in the re-push file, by reason. */
  readonly notRepushed: Readonly<Partial<Record<Obstacle, number>>>;
}

export interface DifferenceTally {
  /** Counts a matter of the file with its differences. */
  compared(kinds: readonly FindingKind[]): void;
  orphan(): void;
  repushed(line: RepushLine, isNewerHere: boolean): void;
  notRepushed(obstacle: Obstacle): void;
  wouldFail(): void;
  counts(): DifferenceCounts;
}

export function createTally(): DifferenceTally {
  const differences = new Map<FindingKind, number>();
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
