// What GET /status answers, as the service has it.
export type { ShownAlert } from '../../src/operator/alerts';
export type { History, HistoryEvent, MinuteCounts } from '../../src/operator/history';
export type { QueueSample } from '../../src/operator/queue-history';
export type { OperatorStatus } from '../../src/operator/screen';
export type { ClientStatus, ProcessStatus, ServerStatus } from '../../src/status/status';
