/** Records the outages of MongoDB and Redis, and logs the start and the end of each outage. */
import { systemClock } from '../concurrency/timing';
import type { Logger } from './logger';

export const SERVERS = ['mongodb', 'redis'] as const;
export type ServerName = (typeof SERVERS)[number];

export interface Outage {
  /** Epoch milliseconds. */
  readonly since: number;
  /** Epoch milliseconds; null while a connection is lost. */
  readonly until: number | null;
  readonly error: string;
}

export interface Outages {
  /** @param connection for example `subscriber` or `pings` */
  lost(server: ServerName, connection: string, error: string): void;
  back(server: ServerName, connection: string): void;
  /** True from the start of an outage until its end is logged. */
  isUnavailable(server: ServerName): boolean;
  /** The current or most recent outage; undefined if there was none. */
  last(server: ServerName): Outage | undefined;
}

export interface OutageOptions {
  readonly clock?: () => number;
  readonly later?: (ms: number, work: () => void) => void;
}

/**
 * The end of an outage is logged after this many milliseconds without a lost connection. Must exceed 1 s: while Redis
 * has no primary, a connection to a replica is lost and restored about once a second.
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
  isEndLogged: boolean;
}

const outagesByLogger = new WeakMap<Logger, Outages>();

/** All components with the same logger share one `Outages`. */
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
      // A later error with the cause replaces a vague error.
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

const isVague = (error: string): boolean =>
  /connection .*closed|ECONNRESET|EPIPE|no answer|not writeable/i.test(error);

const afterDelay = (ms: number, work: () => void) => void setTimeout(work, ms).unref();
