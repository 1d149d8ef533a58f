/** What a push came to, as its caller is told. */
import type { PushData } from '../protocol/envelope';
import { matterNotFound, type Problem, PushError, problem } from '../protocol/errors';
import { type WarningInBoth, withUnseen } from '../protocol/warnings';
import type { Settlement } from '../storage/push-log/settlement';

export interface PushResult {
  readonly data: PushData;
  /** The outcome of an earlier push was repeated. */
  readonly replayed: boolean;
}

/** What the push was about. */
export interface ResultContext {
  readonly systemCode: string;
  readonly externalId: string;
  readonly warnings: readonly WarningInBoth[];
}

/**
 * @param settlement undefined where nobody knows yet what became of the push
 * @throws PushError for everything but success
 */
export function resultOf(settlement: Settlement | undefined, about: ResultContext): PushResult {
  if (!settlement || settlement.state === 'EXPIRED') throw new PushError('CONFIRMATION_TIMEOUT');
  if (settlement.state === 'REFUSED') throw rejectionOf(settlement.reason, about);
  const { externalId } = about;
  const { matterId, outcome, unseen = false } = settlement;
  const warnings = withUnseen(about.warnings, unseen);
  const data = { matterId, externalId, outcome, ...(warnings.length > 0 && { warnings }) };
  return { data, replayed: settlement.state === 'REPLAYED' };
}

/** True if a worker processed the push, successfully or not: neither time nor a server was short. */
export function wasProcessed(settlement: Settlement | undefined): boolean {
  if (!settlement || settlement.state === 'EXPIRED') return false;
  return settlement.state !== 'REFUSED' || new PushError(settlement.reason).code < 500;
}

/** Rejections by the ledger's state that are about one field name it. */
const FIELDS: Partial<Record<PushError['reason'], string>> = {
  EXTERNAL_ID_RESERVED: 'externalId',
  TOO_MANY_PARTIES: 'parties',
};

function rejectionOf(
  reason: PushError['reason'],
  { systemCode, externalId }: ResultContext,
): PushError {
  if (reason === 'MATTER_NOT_FOUND' || reason === 'MATTER_DELETED') {
    return matterNotFound(reason, systemCode, externalId);
  }
  const error = new PushError(reason);
  const field = FIELDS[reason];
  if (!field) return error;
  const errors: Problem[] = [problem(field, error.text)];
  return new PushError(reason, { errors });
}
