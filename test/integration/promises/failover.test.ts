/** Three database servers as one: whichever goes or lags, every answer holds and nothing needs a hand. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mongo } from 'mongoose';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { type ReplicaSet, type RunningServer, startReplicaSet } from '../../../tools/local/servers';
import { todo } from '../../support/push-bodies';
import type { Answer } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const SENDERS = 24;
/** The read preference of a URL that would lead every read to the member that lags. */
const LAGGING = 'readPreference=secondaryPreferred&readPreferenceTags=lags:yes';

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-failover-'));
let set: ReplicaSet;
let service: Service;
beforeAll(async () => {
  set = await startReplicaSet({ dir, members: 3 });
  service = await startService({ mongoUrl: `${set.url}&${LAGGING}`, workers: 2 });
});
afterAll(async () => {
  await service.stop();
  await set.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function on(member: RunningServer, task: (admin: mongo.Db) => Promise<unknown>) {
  const client = new mongo.MongoClient(member.url);
  await task(client.db('admin')).finally(() => client.close(true));
}

test.each([
  [
    'that steps down',
    // It closes connections on its way, sometimes that of the command as well.
    (primary: RunningServer) =>
      on(primary, (admin) => admin.command({ replSetStepDown: 10 }).catch(() => undefined)),
  ],
  [
    'that is killed',
    async (primary: RunningServer) => {
      primary.kill('SIGKILL');
      await primary.exited;
    },
  ],
])(
  'under load, a primary %s: every answer holds, and pushes go on by themselves',
  async (how, go) => {
    const load = startLoad(how);
    await load.untilMore(200);
    const primary = await set.primary();
    await go(primary);
    await until('another primary', async () => (await set.primary()).port !== primary.port);
    await load.untilMore(200);
    if (how.includes('killed')) await set.restart(set.members.indexOf(primary));
    await expectTruth(await load.stop());
  },
);

test('what was written is read, whatever member the URL would rather ask', async () => {
  let problem: unknown;
  // A member that has just come back may call an election, and a set without a primary takes no configuration.
  const lagging = await until(
    () => `a member that lags: ${problem}`,
    async () => {
      const primary = await set.primary();
      const other = set.members.find((member) => member.port !== primary.port);
      try {
        await on(primary, (admin) => letLag(admin, other?.port));
        return other;
      } catch (error) {
        problem = error;
        return undefined;
      }
    },
  );
  await on(lagging, async (admin) => {
    // It follows no more, and answers reads.
    await admin.command({ fsync: 1, lock: true });
    for (let n = 0; n < 10; n += 1) {
      const externalId = `LAG-${n}`;
      await accepted(() => send(externalId, 'made'));
      await accepted(() => service.push('status', { externalId, bizStatus: 'DONE' }));
    }
    await admin.command({ fsyncUnlock: 1 });
  });
});

/** From now on the reads of the service would rather go to the member on this port. */
async function letLag(admin: mongo.Db, port?: number): Promise<void> {
  const { config } = await admin.command({ replSetGetConfig: 1 });
  const members = config.members.map(({ host, ...member }: { host: string }) =>
    host.endsWith(`:${port}`)
      ? { ...member, host, priority: 0, tags: { lags: 'yes' } }
      : { ...member, host },
  );
  const next = { ...config, version: config.version + 1, members };
  await admin.command({ replSetReconfig: next });
}

const send = (externalId: string, title: string): Promise<Answer> =>
  service.push('upsert', todo(externalId, { title }));

/** Sent again while it is rejected for want of a primary: on a starved machine members elect another one. */
async function accepted(once: () => Promise<Answer>): Promise<void> {
  const answer = await until('a primary that takes it', async () => {
    const given = await once();
    return given.reason !== 'DATABASE_UNAVAILABLE' && given;
  });
  expect(answer).toMatchObject({ code: 0 });
}

/** Each sender has a matter of its own and sends one push after the other: their order is known. */
function startLoad(name: string) {
  const answers = Array.from({ length: SENDERS }, (): Answer[] => []);
  const externalIds = answers.map((_, sender) => `${name} ${sender}`);
  let sending = true;
  let accepted = 0;
  const running = answers.map(async (own, sender) => {
    while (sending) {
      const answer = await send(String(externalIds[sender]), String(own.length));
      own.push(answer);
      if (answer.code === 0) accepted += 1;
    }
  });
  return {
    untilMore: (count: number) => {
      const before = accepted;
      return until('more pushes', async () => accepted > before + count);
    },
    stop: async () => {
      sending = false;
      await Promise.all(running);
      return answers.map((own, sender) => ({ externalId: String(externalIds[sender]), own }));
    },
  };
}

async function expectTruth(sent: readonly { externalId: string; own: readonly Answer[] }[]) {
  const entries = entryModel(service.db);
  await until('every push to have ended', async () => {
    return (await entries.countDocuments({ state: 'QUEUED' })) === 0;
  });
  for (const { externalId, own } of sent) {
    const log = await entries.find({ externalId }).lean();
    const states = new Map(log.map((entry) => [String(entry._id), entry]));
    // Told and done are the same, but for whom was told that nobody could know yet.
    const wrong = own.filter(({ code, requestId }) => {
      const isDone = states.get(requestId)?.state === 'PERSISTED';
      return code === 0 ? !isDone : code !== 504 && isDone;
    });
    expect(wrong).toEqual([]);
    expect(own.filter(({ code }) => code !== 0 && code !== 503 && code !== 504)).toEqual([]);
    // One effect each, in their order: the revisions have no gap, and rise with what was sent.
    const done = own.flatMap(({ requestId }) => states.get(requestId)?.revision ?? []);
    expect(done).toEqual(done.map((_, index) => index + 1));
    const matter = await matterModel(service.db).findOne({ externalId }).lean();
    expect(matter?.revision).toBe(done.length);
  }
}
