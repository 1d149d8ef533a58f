/** The same for each form of a Redis that fails over by itself. */
import { type FaultKind, GROUP_FAULT_KINDS } from '../../tools/chaos/history';
import { testPromises } from '../support/chaos-crowd';

/** Of a Sentinel group or a Cluster, and of those who work meanwhile. */
const OF_GROUP: readonly FaultKind[] = [...GROUP_FAULT_KINDS, 'kill-worker', 'leave-worker'];
/** The plan of this seed has every kind. */
const RUN = { seed: '86', mix: { kinds: OF_GROUP, pace: 2 }, duration: 22_000 } as const;

testPromises([
  ['where a Sentinel group fails over', { ...RUN, redisForm: 'sentinel' }],
  ['where primaries of a Cluster fail over', { ...RUN, redisForm: 'cluster' }],
]);
