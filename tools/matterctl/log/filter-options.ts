/** The options that filter the push log, and the filter that they make. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { OUTCOMES } from '../../../src/domain/decide';
import { ALL_REASONS } from '../../../src/protocol/errors';
import { likelyName } from '../../../src/protocol/likely-name';
import type { LocalDay } from '../../../src/protocol/local-day';
import { LOG_STATES, type LogState } from '../../../src/protocol/log-states';
import type { LogFilter } from '../../../src/storage/push-log';
import { usageFailure } from '../failure';
import { dayIn, momentIn, toRequestId } from '../option-values';
import type { Tool } from '../tool';

export interface FilterOptions {
  readonly systemCode?: string;
  readonly clientId?: string;
  /** With this option, the client of `--client-id` signs, and the log is that of its system. */
  readonly secretFile?: string;
  readonly requestId?: string;
  readonly batch?: string;
  readonly key?: string;
  readonly externalId?: string;
  readonly operation?: string;
  /** The push must have one of these outcomes. */
  readonly outcome?: readonly string[];
  readonly reason?: readonly string[];
  readonly failed?: boolean;
  readonly stillFailed?: boolean;
  readonly state?: LogState;
  /** Epoch milliseconds. */
  readonly from?: number;
  /** Another name for `from`. */
  readonly since?: number;
  readonly to?: number;
  /** A whole day, instead of `from` and `to`. */
  readonly on?: LocalDay;
}

const TIMES = 'e.g. 2026-05-01T08:00, 24h (a day ago), today, yesterday (their beginnings)';

/** Adds the filter options to a command. */
export function withLogFilters(command: Command, { settings }: Tool): Command {
  const toMoment = momentIn(settings.timeZone);
  const toDay = dayIn(settings.timeZone);
  const state = new Option('--state <state>', 'the state of a push').choices(LOG_STATES);
  return command
    .option('--system-code <code>', 'pushes of one system')
    .option(
      '--client-id <id>',
      'of one client; with --secret-file: who signs, for all pushes of its system',
    )
    .option('--request-id <id>', 'the one with this request id', toRequestId)
    .option('--batch <id>', 'the lines of the batch whose answer had this request id', toRequestId)
    .option('--key <key>', 'with this idempotency key (needs --system-code)')
    .option('--external-id <id>', 'of one matter (needs --system-code)')
    .option('--operation <op>', 'upsert, status, reopen or delete')
    .option(
      '--outcome <outcome>',
      'accepted with this outcome, e.g. CREATED, or one of A,B',
      toOutcomes,
    )
    .option(
      '--reason <reason>',
      'rejected for this reason, e.g. UNKNOWN_USER, or one of A,B',
      toReasons,
    )
    .option('--failed', 'only pushes without an effect: rejected, or not confirmed in time')
    .option('--still-failed', 'only failures that no later push of the matter or key resolved')
    .addOption(state)
    .option('--from <time>', `received since: ${TIMES}`, toMoment)
    .option('--since <time>', 'the same', toMoment)
    .option('--to <time>', 'received before', toMoment)
    .option('--on <day>', 'received on today, yesterday, or a day such as 2026-05-01', toDay);
}

/** @throws CommandFailure with exit code 2 if two options exclude each other */
export function toLogFilter(options: FilterOptions): LogFilter {
  const { systemCode, requestId, batch: batchId, key, externalId, operation, state } = options;
  const { outcome, reason, failed, stillFailed } = options;
  const isSigned = options.secretFile !== undefined;
  const clientId = isSigned ? undefined : options.clientId;
  const { from, to } = windowOf(options);
  // The indexes of matters and keys begin with the system. Without it, the database would read the whole log.
  const hasSystem = systemCode !== undefined || isSigned;
  if (!hasSystem && externalId !== undefined) throw needsSystem('--external-id');
  if (!hasSystem && key !== undefined) throw needsSystem('--key');
  if (outcome !== undefined && reason !== undefined) {
    throw usageFailure('give --outcome or --reason, not both: a push has one of them');
  }
  if ((failed || stillFailed) && outcome !== undefined) {
    throw usageFailure('--failed leaves no --outcome: leave one of them out');
  }
  const results = outcome ?? reason;
  const result = results?.length === 1 ? results[0] : results;
  const exact = { systemCode, clientId, requestId, batchId, idempotencyKey: key, externalId };
  return { ...exact, operation, result, failed, stillFailed, state, from, to };
}

/** @throws CommandFailure with exit code 2 if the window is stated twice, or ends before it begins */
function windowOf({ from, since, to, on }: FilterOptions): Pick<LogFilter, 'from' | 'to'> {
  if (from !== undefined && since !== undefined) {
    throw usageFailure('--since is another name for --from: give one of them');
  }
  const begin = from ?? since;
  if (on) {
    if (begin === undefined && to === undefined) return { from: on.start, to: on.end };
    throw usageFailure('--on is a whole day: leave --from and --to out');
  }
  if (begin !== undefined && to !== undefined && to <= begin) {
    throw usageFailure('--to must be later than --from');
  }
  return { from: begin, to };
}

const needsSystem = (option: string) => usageFailure(`${option} needs --system-code`);

const KINDS: Readonly<Record<string, readonly string[]>> = {
  outcome: OUTCOMES,
  reason: ALL_REASONS,
  state: LOG_STATES,
};

/**
 * Parsers of options that may be repeated and may have several values, such as `A,b`. Upper and lower case are equal.
 */
const toOutcomes = (text: string, before: readonly string[] = []) => [
  ...before,
  ...text.split(',').map((word) => toKnown(word.trim(), 'outcome')),
];
const toReasons = (text: string, before: readonly string[] = []) => [
  ...before,
  ...text.split(',').map((word) => toKnown(word.trim(), 'reason')),
];

/** @throws InvalidArgumentError whose message suggests the likely word and lists all words */
function toKnown(text: string, kind: string): string {
  const word = text.toUpperCase();
  const known = KINDS[kind] ?? [];
  if (known.includes(word)) return word;
  const other = Object.keys(KINDS).find((name) => KINDS[name]?.includes(word));
  const meant = likelyName(word, known);
  const hint = other
    ? `That is ${other === 'outcome' ? 'an' : 'a'} ${other}: --${other} ${word}.`
    : meant && `Did you mean ${meant}?`;
  throw new InvalidArgumentError(
    [hint, `The ${kind}s are: ${known.join(', ')}.`].filter(Boolean).join(' '),
  );
}
