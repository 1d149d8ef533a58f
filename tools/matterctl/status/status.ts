/** What `matterctl status` knows after one look, as `--json` prints it. */

import type { FlowClient } from '../../../src/observability/processes/flow';
import type { SeenProcess } from '../../../src/observability/processes/read-processes';
import type { PartitionView } from '../../../src/queue/view';
import type { ServerName } from '../../../src/runtime/outages';

export interface ServerStatus {
  readonly server: ServerName;
  readonly isReachable: boolean;
  /** Why it is not; null where it is. */
  readonly error: string | null;
  readonly version: string | null;
  /** `primary`, `mongos`, `master`, …; null where it cannot be asked. */
  readonly role: string | null;
  /** The latest that any process has met; null where none is known. */
  readonly lastOutage: ServerOutage | null;
}

export interface ServerOutage {
  /** ISO-8601, by the clock of a process. */
  readonly since: string;
  /** Null while it lasts. */
  readonly lastedMs: number | null;
  readonly error: string;
  /** The processes that met it, by their names. */
  readonly processes: readonly string[];
}

export type ProcessStatus = Omit<SeenProcess, 'flow' | 'outages' | 'defaultRate'>;

export interface ResultStatus {
  readonly result: string;
  readonly count: number;
  /** Milliseconds from receipt to answer. */
  readonly p50: number | null;
  readonly p95: number | null;
}

/** Null where MongoDB cannot be asked. */
export interface ClientStatus extends Omit<FlowClient, 'clientId'> {
  readonly clientId: string;
  readonly systemCode: string | null;
  readonly isEnabled: boolean;
  /** Pushes a second that it may send; 0: no limit; null: that of the service, which is not known. */
  readonly rate: number | null;
  readonly paused: { readonly since: string; readonly reason: string | null } | null;
}

export interface Resendable {
  readonly count: number;
  /** There may be more: so many were looked at. */
  readonly isCut: boolean;
  readonly reasons: Readonly<Record<string, number>>;
}

/** What cannot be known because a server is away is null. */
export interface Status {
  /** ISO-8601 */
  readonly at: string;
  readonly servers: readonly ServerStatus[];
  readonly processes: readonly ProcessStatus[] | null;
  readonly partitions: readonly PartitionView[] | null;
  /** Of pushes that were answered in the last minutes, of all processes together. */
  readonly flow: { readonly spanMs: number; readonly results: readonly ResultStatus[] } | null;
  readonly clients: readonly ClientStatus[] | null;
  /** Failed pushes of the last day that nobody has sent again. */
  readonly resendable: Resendable | null;
}
