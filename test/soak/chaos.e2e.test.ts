/** Nothing is lost, whatever dies: a short run with a fixed seed keeps every promise. */
import { FAULT_KINDS, type FaultKind, needsFailOver } from '../../tools/chaos/history';
import { testPromises } from '../support/chaos-crowd';

/** One process alone loses a server, or a worker is outrun. */
const isAlone = (kind: FaultKind) => /^(drop|refuse)-.+-|^outrun-/.test(kind);

/** The plan of each seed has every kind. */
testPromises([
  [
    'under faults of every kind',
    {
      seed: '15333',
      mix: { kinds: FAULT_KINDS.filter((kind) => !needsFailOver(kind) && !isAlone(kind)), pace: 2 },
      duration: 45_000,
    },
  ],
  [
    'where one process alone loses a server, or a worker is outrun',
    { seed: '1', mix: { kinds: FAULT_KINDS.filter(isAlone), pace: 2 }, duration: 45_000 },
  ],
  [
    'where servers fail over, and clocks are wrong',
    {
      seed: '257',
      mix: { kinds: [...FAULT_KINDS.filter(needsFailOver), 'kill-worker'], pace: 2 },
      skew: 240_000,
      duration: 38_000,
    },
  ],
]);
