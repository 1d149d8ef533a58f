/**
 * Log lines that can come in crowds: the first of a kind in a second is written, the others of that
 * second are counted in one more. The only place where lines are held back.
 */
import type { Logger } from './logger';
import { type Outages, outagesOf, type ServerName } from './outages';

/** Lines of one kind in a second, where the kind does not say. */
const MOST = 1;
const SECOND = 1_000;
/** Kinds of one second that are told apart: client ids are many. Further ones share one by their text. */
const MAX_KINDS = 200;

/** What lines of one kind have in common. */
export interface LineKind {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  readonly reason?: string | undefined;
  readonly code?: number;
  readonly clientId?: string | undefined;
  /** Lines of a second that are written as they are, where one is too few. */
  readonly most?: number;
  /** A consequence of one of these being away: while that is known, it is told at `debug`. */
  readonly dueTo?: readonly ServerName[];
}

export type TellLine = (kind: LineKind, details: object) => void;

export interface FoldedLogOptions {
  readonly isAway?: Outages['isAway'];
  /** Runs something later; milliseconds. */
  readonly later?: (ms: number, work: () => void) => void;
}

interface Tally {
  readonly kind: LineKind;
  count: number;
}

const ofProcess = new WeakMap<Logger, TellLine>();

/** That of the process: all of its parts fold into the same counts, and know of the same outages. */
export function foldedLog(logger: Logger): TellLine {
  const known = ofProcess.get(logger) ?? createFoldedLog(logger, outagesOf(logger));
  ofProcess.set(logger, known);
  return known;
}

export function createFoldedLog(logger: Logger, options: FoldedLogOptions = {}): TellLine {
  const { isAway = () => false, later = unreffed } = options;
  let tallies = new Map<string, Tally>();

  const write = ({ level, dueTo }: LineKind, line: object, text: string) => {
    if (dueTo?.some(isAway)) logger.debug(line, text);
    else logger[level](line, text);
  };
  const countRest = () => {
    const ended = tallies;
    tallies = new Map();
    for (const { kind, count } of ended.values()) {
      const untold = count - (kind.most ?? MOST);
      if (untold > 0) write(kind, { ...aboutOf(kind), untold }, `${kind.text}, and more of them`);
    }
  };
  const tallyOf = (kind: LineKind): Tally => {
    const known = tallies.get(keyOf(kind));
    if (known) return known;
    if (tallies.size === 0) later(SECOND, countRest);
    const isOneMore = tallies.size < MAX_KINDS;
    const { reason, clientId, ...shared } = kind;
    const counted = isOneMore ? kind : shared;
    const tally = tallies.get(keyOf(counted)) ?? { kind: counted, count: 0 };
    tallies.set(keyOf(counted), tally);
    return tally;
  };
  return (kind, details) => {
    const tally = tallyOf(kind);
    tally.count += 1;
    if (tally.count <= (tally.kind.most ?? MOST)) {
      write(kind, { ...aboutOf(kind), ...details }, kind.text);
    }
  };
}

const keyOf = ({ level, text, reason, clientId }: LineKind) =>
  [level, text, reason, clientId].join('\n');

/** What the line itself shows of its kind. */
function aboutOf({ reason, code, clientId }: LineKind): object {
  return {
    ...(clientId !== undefined && { clientId }),
    ...(reason !== undefined && { reason }),
    ...(code !== undefined && { code }),
  };
}

const unreffed = (ms: number, work: () => void) => void setTimeout(work, ms).unref();
