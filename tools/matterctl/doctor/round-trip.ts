/** A matter that nobody sees is pushed, found, and deleted again, whatever happens in between. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Check, failed, judge, passed } from './check';
import { type Access, callSigned, type Heard } from './service';

const KEY = 'X-Idempotency-Key';
/** How often the deletion is tried, where it may succeed later, and milliseconds in between. */
const DELETIONS = 4;
const BETWEEN_DELETIONS = 1_000;

/** @param stop aborted: what was pushed is deleted at once, without a further look */
export async function roundTrip(access: Access, stop: AbortSignal): Promise<Check> {
  const externalId = `matterctl-doctor-${randomBytes(8).toString('hex')}`;
  const pushed = await failureOf(() => pushAndFind(access, externalId, stop));
  // Also where the push failed: it may be its answer that was lost.
  const deleted = await failureOf(() => deleteAndLook(access, externalId, stop));
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

/** Ends a step; `check` says why. */
class StepFailed extends Error {
  constructor(
    readonly check: Check,
    /** The service says for sure that no such matter is there. */
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
  // Nobody is named in it, so nobody gets to see it.
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

async function deleteAndLook(access: Access, externalId: string, stop: AbortSignal): Promise<void> {
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

/** @returns the envelope. @throws StepFailed for any answer but success */
async function step(
  access: Access,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
) {
  const heard = await callSigned(access, path, JSON.stringify(body), headers);
  if (heard.envelope?.code === 0) return heard.envelope;
  const { detail, fix = '' } = judge(heard, 'round trip');
  const check = failed('round trip', `${path}: ${detail}`, fix);
  throw new StepFailed(check, isNothing(path, heard), isRetryable(heard));
}

/** Of the push: it was rejected, not lost on its way back. Of the deletion: there is nothing to delete. */
function isNothing(path: string, { envelope }: Heard): boolean {
  if (!envelope) return false;
  if (path === 'matters/delete') return envelope.reason === 'MATTER_NOT_FOUND';
  return path === 'matters/upsert' && (envelope.code < 500 || envelope.reason === 'CLIENT_PAUSED');
}

/** No answer is one that may come later, too. */
const isRetryable = ({ envelope, failure }: Heard) => envelope?.retryable ?? failure !== undefined;
