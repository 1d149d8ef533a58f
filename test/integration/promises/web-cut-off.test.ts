/** A web process that loses a server answers the requests that wait for it when it notices, not at their deadline. */
import { entryModel } from '../../../src/storage/push-log/entry';
import { startProxy, type TcpProxy } from '../../../tools/harness/proxy';
import type { Answer } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

/** The longest deadlines that the settings allow: a push that reaches its deadline gets 504, and fails the test. */
const PATIENT = { PUSH_TIMEOUT: '2m', BATCH_TIMEOUT: '2m', DRAIN_TIMEOUT: '5m' };

/** Begins a cut, or ends it. */
type Cut = (on: boolean) => unknown;

let service: Service;
let proxy: TcpProxy;
let url: string;
beforeEach(async () => {
  service = await startService({ webs: 0, workers: 0, env: PATIENT });
}, 60_000);
afterEach(async () => {
  await endCut();
  await service.stop();
  proxy.close();
}, 60_000);

/** Ends the cut that lasts. It resets connections, so a web that stops must not be in the middle of it. */
let restore: (() => unknown) | undefined;
async function begin(cut: Cut): Promise<void> {
  restore = () => cut(false);
  await cut(true);
}
async function endCut(): Promise<void> {
  await restore?.();
  restore = undefined;
}

async function startWebBehindProxy(setting: 'MONGO_URL' | 'REDIS_URL', search = ''): Promise<void> {
  const server = new URL(String(service.env[setting]));
  proxy = await startProxy(Number(server.port), server.hostname);
  server.port = String(proxy.port);
  server.search = search;
  const web = await service.startWeb({ [setting]: server.href });
  url = String(web.url);
}

const todo = (externalId: string) => ({ matterType: 'TODO', externalId, title: 't' });
const push = (externalId: string) => service.push('upsert', todo(externalId), { url });
const queued = () => entryModel(service.db).countDocuments({ state: 'QUEUED' });
/** Looks a user up in the database: users that the directory does not have are not remembered. */
const verify = () => {
  const parties = [{ username: 'not-there', partyRole: 'ASSIGNEE' }];
  const body = { operation: 'upsert', push: { ...todo('VERIFIED'), parties } };
  return service.push('', body, { url, path: '/api/open/verify' });
};

/** What may be on the way to a server. */
const CUTS: readonly [string, Cut][] = [
  ['nothing is forwarded', (on) => proxy.setDropping(on)],
  ['connections are refused', (on) => proxy.setRefusing(on)],
];

test.each(CUTS)(
  'of the database, where %s',
  async (_what, cut) => {
    await startWebBehindProxy('MONGO_URL', '?directConnection=true');
    await service.startWorker();
    await until('pushes to be written', async () => (await push('FIRST')).code === 0);
    // When the database is cut off, these pushes are anywhere: some wait for the database, others for their worker.
    let isCut = false;
    const answers: Answer[] = [];
    const caller = async (externalId: string) => {
      while (!isCut) answers.push(await push(externalId));
    };
    const callers = Array.from({ length: 24 }, (_, n) => caller(`K-${n}`));
    await until('pushes to be answered', async () => answers.length >= 100);
    expect(await verify()).toMatchObject({ code: 400, reason: 'UNKNOWN_USER' });
    await begin(cut);
    const before = answers.length;
    isCut = true;
    // These wait for the database in any case.
    callers.push(
      ...Array.from({ length: 24 }, async (_, n) => void answers.push(await push(`C-${n}`))),
    );
    expect(await verify()).toMatchObject({ code: 503, reason: 'DATABASE_UNAVAILABLE' });
    await Promise.all(callers);
    const reasons = new Set(answers.slice(before).map(({ code, reason }) => reason ?? code));
    expect([...reasons].filter((one) => one !== 0)).toEqual(['DATABASE_UNAVAILABLE']);
    expect(await push('LATER')).toMatchObject({ code: 503, reason: 'DATABASE_UNAVAILABLE' });
    await endCut();
    await until('pushes to be written again', async () => (await push('LAST')).code === 0, 60_000);
    await until('all pushes to be final', async () => (await queued()) === 0, 60_000);
  },
  240_000,
);

test.each(CUTS)(
  'of Redis, where %s',
  async (_what, cut) => {
    await startWebBehindProxy('REDIS_URL');
    const waiting = ['W-1', 'W-2', 'W-3'].map(push);
    await until('the pushes to wait', async () => (await queued()) === 3);
    await begin(cut);
    for (const answer of await Promise.all(waiting)) {
      expect(answer).toMatchObject({ code: 503, reason: 'QUEUE_UNAVAILABLE', retryable: true });
    }
    expect(await entryModel(service.db).distinct('state')).toEqual(['REFUSED']);
    expect(await push('LATER')).toMatchObject({ code: 503, reason: 'QUEUE_UNAVAILABLE' });
    await endCut();
    await service.startWorker();
    await until('pushes to be written', async () => (await push('LAST')).code === 0, 60_000);
    // What was answered 503 took no effect later, though it may still have stood in its partition.
    const applied = await entryModel(service.db).distinct('externalId', { state: 'PERSISTED' });
    expect(applied.sort()).toEqual(['LAST']);
  },
  240_000,
);
