/**
 * Records the outages of MongoDB and Redis that this process notices, and logs the start and the end of each outage. An
 * outage starts when the first connection to the server is lost. The outage ends when all connections to the server
 * have worked for 2 s.
 */
import { systemClock } from '../concurrency/timing';
import type { Logger } from './logger';

export const SERVERS = ['mongodb', 'redis'] as const;
export type ServerName = (typeof SERVERS)[number];

export interface Outage {
  /** Epoch milliseconds. */
  readonly since: number;
  /** Epoch milliseconds when the last lost connection worked again; null while a connection is lost. */
  readonly until: number | null;
  readonly error: string;
}

export interface Outages {
  /** Records a lost connection. @param connection name of the connection, for example `subscriber` */
  lost(server: ServerName, connection: string, error: string): void;
  /** Records that a lost connection works again. */
  back(server: ServerName, connection: string): void;
  /**
   * True between the log lines of the start and the end of an outage. During this time, callers log errors of the
   * server with a lower level.
   */
  isUnavailable(server: ServerName): boolean;
  /** The current or most recent outage; undefined if there was none. */
  last(server: ServerName): Outage | undefined;
}

export interface OutageOptions {
  readonly clock?: () => number;
  /** Runs `work` after `ms` milliseconds; tests replace this function. */
  readonly later?: (ms: number, work: () => void) => void;
}

/**
 * Milliseconds without a lost connection after which an outage counts as ended. While Redis has no primary, the process
 * loses and restores its connections to a replica about once a second. All these losses are one outage.
 */
const RECOVERY_TIME = 2_000;
/** Maximum characters of a recorded error. */
const MAX_ERROR = 200;

interface State {
  readonly since: number;
  until: number | null;
  error: string;
  /** Connections that are lost now. */
  readonly lost: Set<string>;
  /** Connections that were lost during this outage. */
  readonly affected: Set<string>;
  /** Whether the end was logged. */
  isEndLogged: boolean;
}

const outagesByLogger = new WeakMap<Logger, Outages>();

/** Returns the outages of this process. All components of a process use one logger and get the same object. */
export function outagesOf(logger: Logger): Outages {
  const known = outagesByLogger.get(logger) ?? createOutages(logger);
  outagesByLogger.set(logger, known);
  return known;
}

export function createOutages(logger: Logger, options: OutageOptions = {}): Outages {
  const { clock = systemClock, later = afterDelay } = options;
  const states = new Map<ServerName, State>();

  const begin = (): State => ({
    ...{ since: clock(), until: null, error: '', isEndLogged: false },
    ...{ lost: new Set(), affected: new Set() },
  });
  const end = (server: ServerName, state: State, until: number): void => {
    if (state.until !== until || state.isEndLogged) return;
    state.isEndLogged = true;
    const lastedMs = Math.max(0, Math.round(until - state.since));
    logger.info(
      { server, lastedMs, connections: [...state.affected] },
      `${server} is available again`,
    );
  };

  return {
    lost: (server, connection, error) => {
      const known = states.get(server);
      const isNew = !known || known.isEndLogged;
      const state = isNew ? begin() : known;
      states.set(server, state);
      state.until = null;
      state.lost.add(connection);
      state.affected.add(connection);
      // The first error often states only that the connection was closed. The next attempt to connect then fails with
      // an error that states the cause. The error with the cause replaces the first error.
      if (!isNew && !(isVague(state.error) && !isVague(error))) return;
      state.error = error.slice(0, MAX_ERROR);
      const text = isNew ? `${server} is unavailable` : `${server} is unavailable: cause found`;
      logger.warn({ server, connection, error: state.error }, text);
    },
    back: (server, connection) => {
      const state = states.get(server);
      if (!state?.lost.delete(connection) || state.lost.size > 0) return;
      const until = clock();
      state.until = until;
      later(RECOVERY_TIME, () => end(server, state, until));
    },
    isUnavailable: (server) => states.get(server)?.isEndLogged === false,
    last: (server) => {
      const state = states.get(server);
      return state && { since: state.since, until: state.until, error: state.error };
    },
  };
}

/** Whether an error states only that a connection was lost, and not why. */
const isVague = (error: string): boolean =>
  /connection .*closed|ECONNRESET|EPIPE|no answer|not writeable/i.test(error);

const afterDelay = (ms: number, work: () => void) => void setTimeout(work, ms).unref();
