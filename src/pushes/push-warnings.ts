/** What is accepted in a push that passes, although it looks wrong (decisions, "Operations"). */
import type { Operation } from '../domain/operation';
import { looksLikeHost } from '../protocol/fields';
import { told } from '../protocol/language';
import { overlookedIn } from '../protocol/look-alike';
import type { ParsedBody } from '../protocol/requests';
import { TEXTS } from '../protocol/texts';
import { EARLIEST_LIKELY } from '../protocol/time';
import type { WarningInBoth } from '../protocol/warnings';

const MINUTE = 60_000;
/** Statuses that the portal knows besides the concluded ones (decisions, "bizStatus"). */
const OPEN_STATUSES = ['DRAFT', 'PENDING', 'PROCESSING', 'REOPENED'];

export interface WarningSettings {
  /** CONCLUDED_STATUSES */
  readonly concluded: ReadonlySet<string>;
  readonly clock: () => number;
}

/** @returns one for each field that looks wrong */
export const pushWarnings = (
  { operation, externalId }: Pick<ParsedBody, 'operation' | 'externalId'>,
  { concluded, clock }: WarningSettings,
): WarningInBoth[] => [
  ...idWarning(externalId),
  ...statusWarning(operation, concluded),
  ...timeWarnings(operation, clock()),
  ...urlWarnings(operation),
];

function idWarning(externalId: string | undefined): WarningInBoth[] {
  const found = externalId === undefined ? undefined : overlookedIn(externalId);
  if (!found) return [];
  const text = TEXTS.overlooked(found.position, found.codePoint);
  return [{ field: 'externalId', ...told(text), kind: 'LOOK_ALIKE_ID' }];
}

function timeWarnings(operation: Operation, now: number): WarningInBoth[] {
  const { sourceUpdatedAt } = operation;
  const deadlineAt = operation.op === 'upsert' ? operation.content.deadlineAt : undefined;
  const times = { sourceUpdatedAt, deadlineAt };
  const past = Object.entries(times).flatMap(([field, at]): WarningInBoth[] =>
    typeof at === 'number' && at < EARLIEST_LIKELY
      ? [{ field, ...told(TEXTS.longPast), kind: 'LONG_PAST_TIME' }]
      : [],
  );
  if (sourceUpdatedAt === undefined || sourceUpdatedAt <= now + 5 * MINUTE) return past;
  return [...past, { field: 'sourceUpdatedAt', ...told(TEXTS.ahead), kind: 'FUTURE_TIME' }];
}

function urlWarnings(operation: Operation): WarningInBoth[] {
  if (operation.op !== 'upsert') return [];
  const { pcUrl, mobileUrl } = operation.content;
  return Object.entries({ pcUrl, mobileUrl }).flatMap(([field, url]): WarningInBoth[] =>
    url && looksLikeHost(url)
      ? [{ field, ...told(TEXTS.hostAsScheme), kind: 'URL_WITHOUT_SCHEME' }]
      : [],
  );
}

function statusWarning(operation: Operation, concluded: ReadonlySet<string>): WarningInBoth[] {
  const status = operation.op === 'delete' ? undefined : operation.bizStatus;
  if (status === undefined || OPEN_STATUSES.includes(status) || concluded.has(status)) return [];
  return [{ field: 'bizStatus', ...told(TEXTS.unknownStatus(status)), kind: 'UNKNOWN_STATUS' }];
}
