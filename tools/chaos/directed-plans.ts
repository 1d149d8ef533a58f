/**
 * For each mechanism the shortest sequence of pushes and faults that needs it. Each step waits for a condition, never
 * for a time: a process is at a point of its code, a push is queued, a request is answered.
 */
import { untilTrue } from '../harness/until';
import type { DirectedActions } from './directed-actions';
import type { Mechanism } from './mechanisms';
import { flush, orphan } from './server-faults';

type Plan = (actions: DirectedActions) => Promise<unknown>;

export const PLANS: Readonly<Record<Mechanism, Plan>> = {
  'revision-guard': stopBeforeWrite,
  'keep-last-if-active': drainWithQueuedPush,
  sweep: killBeforeJob,
  deadline: stopPastDeadline,
  'confirmed-write': killAfterAnswer,
  majority: orphanThePrimary,
  idempotency: retryAcceptedPush,
  ownership: outrunReadBatch,
  'line-order': pushLines,
};

/**
 * A worker stops after Redis has confirmed its ownership and before it writes. Its lock expires, and another worker
 * takes over its push and a later one. Then the first worker writes.
 */
async function stopBeforeWrite(actions: DirectedActions): Promise<void> {
  const { points } = actions;
  await actions.pushUntilAccepted();
  const reached = points.next('ownership-checked');
  void actions.push();
  const halted = await reached;
  const ended = points.next('commit-ended', halted.pid);
  const worker = actions.worker(halted.pid);
  await actions.fault('stop-worker', worker.name, () =>
    actions.stopped([worker], () => actions.pushUntilAccepted()),
  );
  halted.release();
  (await ended).release();
}

/** A worker drains while a second push waits behind its batch: it releases the partition and schedules the next job. */
async function drainWithQueuedPush(actions: DirectedActions): Promise<void> {
  const { points } = actions;
  const reached = points.next('batch-read');
  const first = actions.push();
  const halted = await reached;
  void actions.push();
  await untilTrue('two queued pushes', async () => (await actions.queued()) === 2);
  const draining = points.next('drain-begun', halted.pid);
  const worker = actions.worker(halted.pid);
  await actions.fault('leave-worker', worker.name, async () => {
    worker.kill('SIGTERM');
    (await draining).release();
    halted.release();
    await first;
    await untilTrue('the end of the worker', async () => worker.pid() === undefined);
  });
}

/** A web process dies after it has appended a push and before it schedules the partition's job. */
async function killBeforeJob(actions: DirectedActions): Promise<void> {
  const web = actions.web();
  const reached = actions.points.next('job-due', web.pid());
  const lost = actions.push();
  await reached;
  await actions.fault('kill-web', web.name, async () => {
    web.kill('SIGKILL');
    await lost;
  });
}

/** All workers stop until a push is past its deadline, and then take it up. */
async function stopPastDeadline(actions: DirectedActions): Promise<void> {
  const { workers } = actions.cluster;
  await actions.fault('stop-worker', 'worker', () =>
    actions.stopped(workers, () => actions.push()),
  );
  await untilTrue('an empty partition', async () => (await actions.queued()) === 0);
}

/** All workers die as soon as a push is answered. */
async function killAfterAnswer(actions: DirectedActions): Promise<void> {
  const { workers } = actions.cluster;
  await actions.push();
  await actions.fault('kill-worker', 'worker', async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    await Promise.all(workers.map((worker) => worker.restart()));
  });
}

/** The primary dies after the answer to a push whose writes no secondary has. */
function orphanThePrimary(actions: DirectedActions): Promise<void> {
  const { mongo } = actions.cluster;
  return actions.fault('orphan-primary', 'mongo', () =>
    orphan(mongo, async () => void (await actions.push())),
  );
}

/** A caller sends an accepted push again, with the same key. */
async function retryAcceptedPush(actions: DirectedActions): Promise<void> {
  const operation = actions.upsert();
  await actions.push(operation);
  await actions.push(operation);
}

/**
 * A worker stops after it has read a batch and before it loads the matters. Redis is emptied, another worker commits a
 * later push, and then the first worker continues with its batch.
 */
async function outrunReadBatch(actions: DirectedActions): Promise<void> {
  const { points, cluster } = actions;
  await actions.pushUntilAccepted();
  const reached = points.next('batch-read');
  void actions.push();
  const halted = await reached;
  const ended = points.next('commit-ended', halted.pid);
  const worker = actions.worker(halted.pid);
  await actions.fault('outrun-worker', worker.name, () =>
    actions.stopped([worker], async () => {
      await flush(cluster.lookup);
      await actions.pushUntilAccepted();
    }),
  );
  halted.release();
  (await ended).release();
}

/** One batch with several lines for the same matter. */
function pushLines(actions: DirectedActions): Promise<void> {
  return actions.pushBatch(Array.from({ length: 5 }, () => actions.upsert()));
}
