/** A matter that nobody sees is pushed, found, and deleted again, whatever happens in between. */
import { randomBytes } from 'node:crypto';
import { type Check, failed, passed } from './check';
import { judge } from './judge';
import { type Access, callSigned } from './service';

const KEY = 'X-Idempotency-Key';
const NEVER_ARRIVED = 'MATTER_NOT_FOUND';

export async function roundTrip(access: Access): Promise<Check> {
  const externalId = `matterctl-doctor-${randomBytes(8).toString('hex')}`;
  const pushed = await failureOf(() => pushAndFind(access, externalId));
  // Also where the push failed: it may be its answer that was lost.
  const deleted = await failureOf(() => deleteAndLook(access, externalId));
  const failure = pushed ?? deleted;
  if (!failure) return passed('round trip', `${externalId} was pushed, found and deleted again`);
  const isLeft = deleted && !deleted.detail.includes(NEVER_ARRIVED);
  if (!isLeft) return failure;
  return { ...failure, detail: `${failure.detail}; ${externalId} may be left, delete it` };
}

/** Ends a step; `check` says why. */
class StepFailed extends Error {
  constructor(readonly check: Check) {
    super(check.detail);
  }
}

async function failureOf(work: () => Promise<void>): Promise<Check | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof StepFailed) return error.check;
    throw error;
  }
}

async function pushAndFind(access: Access, externalId: string): Promise<void> {
  // Nobody is named in it, so nobody gets to see it.
  const matter = { matterType: 'NOTICE', externalId, title: 'matterctl doctor: deleted at once' };
  const key = { [KEY]: `${externalId}/created` };
  const { requestId } = await step(access, 'matters/upsert', matter, key);
  await expectDeleted(access, externalId, false);
  const { data } = await step(access, 'push-logs/query', { requestId });
  const [entry] = (data as { entries?: { idempotencyKey: string | null }[] }).entries ?? [];
  if (entry?.idempotencyKey) return;
  const fix = `Let the gateway pass ${KEY} on: without it a retry may take effect twice.`;
  throw new StepFailed(failed('round trip', `${KEY} does not arrive`, fix));
}

async function deleteAndLook(access: Access, externalId: string): Promise<void> {
  await step(access, 'matters/delete', { externalId });
  await expectDeleted(access, externalId, true);
}

async function expectDeleted(access: Access, externalId: string, isDeleted: boolean) {
  const { data } = await step(access, 'matters/get', { externalIds: [externalId] });
  const [matter] = (data as { matters?: { deleted: boolean }[] }).matters ?? [];
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
  throw new StepFailed(failed('round trip', `${path}: ${detail}`, fix));
}
