/**
 * When a server was away from this process: one line where an outage begins, one where it ends, with
 * its length, however many connections lose it and however often each of them tries. Connections that
 * break again within moments are one outage.
 */
import { systemClock } from '../concurrency/clock';
import type { Logger } from './logger';

export const SERVERS = ['mongodb', 'redis'] as const;
export type ServerName = (typeof SERVERS)[number];

export interface Outage {
  /** Epoch milliseconds. */
  readonly since: number;
  /** When it was over; null while it lasts. */
  readonly until: number | null;
  readonly error: string;
}

export interface Outages {
  /** @param connection names which of the process' connections it is, e.g. `subscriber` */
  lost(server: ServerName, connection: string, error: string): void;
  back(server: ServerName, connection: string): void;
  /** Whether its outage is known and not told as over: what fails meanwhile is no news. */
  isAway(server: ServerName): boolean;
  /** The outage that lasts, or the last one; undefined where there was none. */
  last(server: ServerName): Outage | undefined;
}

export interface OutageOptions {
  readonly clock?: () => number;
  /** Runs something later; milliseconds. */
  readonly later?: (ms: number, work: () => void) => void;
}

/** Milliseconds without a loss before an outage counts as over. A replica loses who writes each second. */
const SETTLED = 2_000;
/** Characters of an error that are kept. */
const MAX_ERROR = 200;

interface State {
  since: number;
  until: number | null;
  error: string;
  /** Those that are away now. */
  readonly lost: Set<string>;
  /** Those that were away in this outage. */
  readonly hit: Set<string>;
  isTold: boolean;
}

const ofProcess = new WeakMap<Logger, Outages>();

/** Those of the process that writes this log: they go with its logger, which every part of it has. */
export function outagesOf(logger: Logger): Outages {
  const known = ofProcess.get(logger) ?? createOutages(logger);
  ofProcess.set(logger, known);
  return known;
}

export function createOutages(logger: Logger, options: OutageOptions = {}): Outages {
  const { clock = systemClock, later = unreffed } = options;
  const states = new Map<ServerName, State>();

  const begin = (error: string): State => {
    const hit = new Set<string>();
    const state = { since: clock(), until: null, error, lost: new Set<string>(), hit };
    return { ...state, isTold: false };
  };
  const end = (server: ServerName, state: State, until: number): void => {
    if (state.until !== until || state.isTold) return;
    state.isTold = true;
    const lastedMs = Math.max(0, Math.round(until - state.since));
    logger.info({ server, lastedMs, connections: [...state.hit] }, `${server} is back`);
  };

  return {
    lost: (server, connection, error) => {
      const known = states.get(server);
      const state = known && !known.isTold ? known : begin(error.slice(0, MAX_ERROR));
      states.set(server, state);
      state.until = null;
      state.lost.add(connection);
      state.hit.add(connection);
      const isNew = state !== known;
      // What a connection reports first is often only that it was closed. The cause comes with the next try.
      const isTelling = !isNew && isVague(state.error) && !isVague(error);
      if (!isNew && !isTelling) return;
      state.error = error.slice(0, MAX_ERROR);
      const text = isNew ? `${server} is away` : `${server} is away: the cause is known now`;
      logger.warn({ server, connection, error: state.error }, text);
    },
    back: (server, connection) => {
      const state = states.get(server);
      if (!state?.lost.delete(connection) || state.lost.size > 0) return;
      const until = clock();
      state.until = until;
      later(SETTLED, () => end(server, state, until));
    },
    isAway: (server) => states.get(server)?.isTold === false,
    last: (server) => {
      const state = states.get(server);
      return state && { since: state.since, until: state.until, error: state.error };
    },
  };
}

/** Whether an error reports only that a connection was lost, and not why. */
const isVague = (error: string): boolean =>
  /connection .*closed|ECONNRESET|EPIPE|no answer|not writeable/i.test(error);

const unreffed = (ms: number, work: () => void) => void setTimeout(work, ms).unref();
