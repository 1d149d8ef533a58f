/** A day of many pushes in which things go wrong in eight ways, as they do at business systems. */
import { createClientAdmin } from '../../src/storage/directory/client-admin';
import { createKeyRing } from '../../src/storage/directory/sealing';
import {
  type BatchPush,
  createMatterPushClient,
  MatterPushError,
} from '../../tools/client/matter-push-client';
import { todo } from './push-bodies';
import type { Service } from './service';
import { until } from './wait';

/** Matters of each kind of failure. */
export const PLANTED = {
  emptyTitle: 120,
  lowerCaseStatus: 60,
  unknownUser: 80,
  statusWithoutMatter: 30,
  notJson: 2,
  wrongId: 2,
  aroundRange: 1,
  paused: 3,
  timedOut: 10,
} as const;

const AT_ONCE = 5_000;

const upsert = (externalId: string, more: object = {}): BatchPush => ({
  operation: 'upsert',
  body: todo(externalId, { title: `Approve ${externalId}`, ...more }),
});
const many = (count: number, name: string, more: object = {}) =>
  Array.from({ length: count }, (_, n) => upsert(`${name}-${n}`, more));

/**
 * @param pushes in all, with what is planted among them
 * @returns a moment, epoch milliseconds: one matter failed before and after it
 */
export async function pushDay(service: Service, pushes: number): Promise<number> {
  await service.push('upsert', { matterType: 'TODO', externalId: 'AROUND', title: '' });
  await pushPlantedLines(service, pushes);
  await pushBroken(service);
  await pushPaused(service);
  await pushUnconfirmed(service);
  const between = Date.now();
  await service.push('status', { externalId: 'AROUND', bizStatus: 'DONE' });
  return between;
}

/** What is refused for its content stands among all the others. */
async function pushPlantedLines(service: Service, pushes: number): Promise<void> {
  const { emptyTitle, lowerCaseStatus, unknownUser, statusWithoutMatter } = PLANTED;
  const planted = [
    ...many(emptyTitle, 'EMPTY', { title: '' }),
    ...many(lowerCaseStatus, 'LOWER', { bizStatus: 'done' }),
    ...many(unknownUser, 'USER', {
      parties: [
        { username: 'alice', partyRole: 'CC' },
        { username: 'zhang.san', partyRole: 'ASSIGNEE' },
      ],
    }),
    // Its matter was not created, so that what comes after it fails too.
    ...many(statusWithoutMatter, 'ORDER', { title: ' ' }),
    ...Array.from({ length: statusWithoutMatter }, (_, n): BatchPush => {
      return { operation: 'status', body: { externalId: `ORDER-${n}`, bizStatus: 'DONE' } };
    }),
  ];
  const all = many(pushes - planted.length, 'DAY');
  const step = Math.floor(all.length / planted.length);
  for (const [n, push] of planted.entries()) all.splice(n * (step + 1), 0, push);
  const { clientId, secret } = service;
  const to = { url: service.urlOf(), clientId, secret };
  // Thousands of pushes share a deadline, and a busy machine is slow.
  const client = createMatterPushClient({ ...to, concurrency: 4, timeout: 600_000 });
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const results = await client.batch(all.slice(at, at + AT_ONCE));
    const late = results.filter((it) => it instanceof MatterPushError && it.retryable);
    if (late.length > 0) throw new Error(`${late.length} pushes failed by themselves`);
  }
  await client.close();
}

/**
 * By people: texts that are no JSON, and ids that are mistyped. Nothing but their keys tells what mended them; where
 * they have none, the one under which the console sends them.
 */
async function pushBroken({ push }: Service): Promise<void> {
  for (let n = 0; n < PLANTED.notJson; n += 1) {
    const body = `{"matterType":"TODO","externalId":"JSON-${n}","title":"x",}`;
    await push('upsert', body, { ...(n > 0 && { idempotencyKey: `broken/${n}` }) });
  }
  for (let n = 0; n < PLANTED.wrongId; n += 1) {
    const body = { externalId: `DAY-O${n}`, bizStatus: 'DONE' };
    await push('status', body, { ...(n > 0 && { idempotencyKey: `mistyped/${n}` }) });
  }
}

async function pushPaused({ db, env, clientId, push }: Service): Promise<void> {
  const admin = createClientAdmin(db, createKeyRing([env.SECRET_KEYS ?? '']), Date.now);
  const send = (n: number) => push('upsert', todo(`PAUSED-${n}`));
  await admin.pause(clientId, 'month end');
  await until('the pause', async () => (await send(0)).reason === 'CLIENT_PAUSED');
  for (let n = 1; n < PLANTED.paused; n += 1) await send(n);
  await admin.resume(clientId);
  const after = todo('RESUMED');
  await until('the end of the pause', async () => (await push('upsert', after)).code === 0);
}

/** Nobody takes them up: the worker stands still for as long as a push waits. */
async function pushUnconfirmed(service: Service): Promise<void> {
  await whileNotTakenUp(service, (url) =>
    Promise.all(
      Array.from({ length: PLANTED.timedOut }, (_, n) =>
        service.push('upsert', todo(`LATE-${n}`), { url }),
      ),
    ),
  );
}

/**
 * The workers stand still meanwhile.
 *
 * @param send gets the address of a web whose callers do not wait for long
 */
export async function whileNotTakenUp<T>(
  { workers, startWeb }: Service,
  send: (url: string) => Promise<T>,
): Promise<T> {
  // Long enough for a machine that stands still before the push is recorded.
  const web = await startWeb({ PUSH_TIMEOUT: '10s' });
  for (const worker of workers) worker.kill('SIGSTOP');
  try {
    return await send(String(web.url));
  } finally {
    for (const worker of workers) worker.kill('SIGCONT');
  }
}
