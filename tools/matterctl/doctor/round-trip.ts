/** Pushes a matter that no user sees, finds it, and deletes it again, even if a step in between fails. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Check, checkOf, failed, passed } from './check';
import { type Access, callSigned, type ServiceAnswer } from './service';

const KEY = 'X-Idempotency-Key';
/** Maximum attempts to delete the matter, and milliseconds between them. */
const DELETIONS = 4;
const BETWEEN_DELETIONS = 1_000;

/** @param stop after its abort, the pushed matter is deleted at once, without further checks */
export async function roundTrip(access: Access, stop: AbortSignal): Promise<Check> {
  const externalId = `matterctl-doctor-${randomBytes(8).toString('hex')}`;
  const pushed = await failureOf(() => pushAndFind(access, externalId, stop));
  // Even if the push failed, because only its answer may have been lost.
  const deleted = await failureOf(() => deleteAndCheck(access, externalId, stop));
  const failure = pushed ?? deleted;
  if (!failure) {
    const found = stop.aborted ? '' : ', found';
    return passed('round trip', `${externalId} was pushed${found} and deleted again`);
  }
  const { detail, fix = '' } = failure.check;
  const isLeft = deleted && !pushed?.isNothing && !deleted.isNothing;
  const left = isLeft ? `; ${externalId} may be left, delete it` : '';
  return failed('round trip', detail + left, fix);
}

/** A step failed; `check` states why. */
class StepFailed extends Error {
  constructor(
    readonly check: Check,
    /** Whether the service has confirmed that there is no such matter. */
    readonly isNothing = false,
    readonly isRetryable = false,
  ) {
    super(check.detail);
  }
}

async function failureOf(work: () => Promise<void>): Promise<StepFailed | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof StepFailed) return error;
    throw error;
  }
}

async function pushAndFind(access: Access, externalId: string, stop: AbortSignal): Promise<void> {
  // The matter has no parties, so no user sees it.
  const matter = { matterType: 'NOTICE', externalId, title: 'matterctl doctor: deleted at once' };
  const key = { [KEY]: `${externalId}/created` };
  const { requestId } = await step(access, 'matters/upsert', matter, key);
  if (stop.aborted) return;
  await expectDeleted(access, externalId, false);
  const { data } = await step(access, 'push-logs/query', { requestId });
  const [entry] = (data as { entries?: { idempotencyKey: string | null }[] } | null)?.entries ?? [];
  if (entry?.idempotencyKey) return;
  const fix = `Let the gateway pass ${KEY} on: without it a retry may take effect twice.`;
  throw new StepFailed(failed('round trip', `${KEY} does not arrive`, fix));
}

async function deleteAndCheck(
  access: Access,
  externalId: string,
  stop: AbortSignal,
): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const failure = await failureOf(async () => {
      await step(access, 'matters/delete', { externalId });
    });
    if (!failure) break;
    if (!failure.isRetryable || tried === DELETIONS || access.signal.aborted) throw failure;
    await sleep(BETWEEN_DELETIONS, undefined, { signal: access.signal }).catch(() => undefined);
  }
  if (!stop.aborted) await expectDeleted(access, externalId, true);
}

async function expectDeleted(access: Access, externalId: string, isDeleted: boolean) {
  const { data } = await step(access, 'matters/get', { externalIds: [externalId] });
  const [matter] = (data as { matters?: { deleted: boolean }[] } | null)?.matters ?? [];
  if (matter?.deleted === isDeleted) return;
  const detail = `${externalId} is not there as it was ${isDeleted ? 'deleted' : 'pushed'}`;
  const fix = 'Does the URL lead to one service, with one database?';
  throw new StepFailed(failed('round trip', detail, fix));
}

/** Sends one request. @returns the envelope. @throws StepFailed for every answer except success */
async function step(
  access: Access,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
) {
  const answer = await callSigned(access, path, JSON.stringify(body), headers);
  if (answer.envelope?.code === 0) return answer.envelope;
  const { detail, fix = '' } = checkOf(answer, 'round trip');
  const check = failed('round trip', `${path}: ${detail}`, fix);
  throw new StepFailed(check, isNothing(path, answer), isRetryable(answer));
}

/** Whether the answer proves that there is no matter: the push was rejected, or the deletion found nothing. */
function isNothing(path: string, { envelope }: ServiceAnswer): boolean {
  if (!envelope) return false;
  if (path === 'matters/delete') return envelope.reason === 'MATTER_NOT_FOUND';
  return path === 'matters/upsert' && (envelope.code < 500 || envelope.reason === 'CLIENT_PAUSED');
}

/** Whether another attempt may succeed. Without an answer, it may. */
const isRetryable = ({ envelope, failure }: ServiceAnswer) =>
  envelope?.retryable ?? failure !== undefined;
