/** On a database far away each try of a batch takes long: what is in order gets through all the same. */
import { startProxy, type TcpProxy } from '../../../tools/harness/proxy';
import { type BatchRig, batchOf, createBatchRig } from '../../support/batch-rig';
import { anUpsert } from '../../support/builders';
import { testServers } from '../../support/service';

/** Milliseconds by which every answer is late, each way by half of it. */
const LATE = 400;

let proxy: TcpProxy;
let rig: BatchRig;
beforeAll(async () => {
  const url = new URL(testServers().mongoUrl);
  proxy = await startProxy(Number(url.port), url.hostname);
  url.port = String(proxy.port);
  rig = await createBatchRig(url.href);
});
afterAll(async () => {
  proxy.setDelay(0);
  await rig.close();
  await proxy.close();
});

test('pushes beside one that was settled meanwhile take effect, however long a try takes', async () => {
  const keys = ['A', 'B', 'C', 'D'];
  const pushes = await Promise.all(keys.map((key) => rig.queued(key, anUpsert({ title: key }))));
  const [first] = pushes;
  if (!first) throw new Error('no push');
  const settlement = { state: 'EXPIRED' } as const;
  // The batch has read them all when it finds that one is settled.
  const worker = rig.newWorker(() =>
    rig.pushLog.settle([{ id: first.id, settlement }], { now: Date.now(), worker: 'web' }),
  );
  proxy.setDelay(LATE / 2);
  // Each try has its time, but what a machine stands still is none of it: the time of all tries is not over by that.
  const now = performance.now.bind(performance);
  const began = now();
  const clock = jest
    .spyOn(performance, 'now')
    .mockImplementation(() => Math.min(now(), began + 4_000));
  const replies = await worker(batchOf(pushes)).finally(() => clock.mockRestore());
  const told = new Map(replies.map((reply) => [reply.id, reply.settlement]));
  expect(pushes.map(({ id }) => told.get(id))).toMatchObject([
    settlement,
    ...['B', 'C', 'D'].map(() => ({ state: 'PERSISTED', outcome: 'CREATED' })),
  ]);
});
