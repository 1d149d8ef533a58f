/** The actions of a directed run: pushes on one matter, and faults of processes that were found by a condition. */
import { groupOf } from '../../src/domain/matter';
import { partitionOf } from '../../src/queue/keys';
import { createSender, type Sender } from '../client/sender';
import type { Cluster } from '../harness/cluster';
import type { DirectoryClient } from '../harness/directory';
import type { Member } from '../harness/member';
import { untilTrue } from '../harness/until';
import {
  type AttemptEnd,
  type BatchTry,
  type Fault,
  type FaultKind,
  isAccepted,
  type PushAttempt,
} from './history';
import type { ChaosOperation } from './operations';
import type { PointServer } from './point-server';
import { type TryOptions, tryBatch, tryOperation } from './tries';

const EXTERNAL_ID = 'MATTER';
/** Milliseconds for an answer: far beyond every deadline of the service. */
const TIMEOUT = 60_000;

export class DirectedActions {
  readonly attempts: PushAttempt[] = [];
  readonly batches: BatchTry[] = [];
  readonly faults: Fault[] = [];
  private operations = 0;
  private readonly leaving = new AbortController();
  private readonly running = new Set<Promise<unknown>>();
  private readonly sender: Sender;
  private readonly way: TryOptions;

  constructor(
    readonly cluster: Cluster,
    readonly points: PointServer,
  ) {
    const client = this.client();
    const { name: web, url } = this.web();
    this.sender = createSender({ url, ...client, concurrency: 10, timeout: TIMEOUT });
    const record = {
      attempt: (attempt: PushAttempt) => void this.attempts.push(attempt),
      batch: (batch: BatchTry) => void this.batches.push(batch),
    };
    this.way = { sender: this.sender, web, client, record };
  }

  /** The web process that receives all pushes. */
  web(): Cluster['webs'][number] {
    const [web] = this.cluster.webs;
    if (!web) throw new Error('the cluster has no web process');
    return web;
  }

  worker(pid: number): Member {
    const found = this.cluster.workers.find((worker) => worker.pid() === pid);
    if (!found) throw new Error(`no worker has the process id ${pid}`);
    return found;
  }

  /** An upsert of the matter. No two bodies are the same. */
  upsert(): ChaosOperation {
    this.operations += 1;
    const number = this.operations;
    const body = { externalId: EXTERNAL_ID, matterType: 'TODO', title: `operation ${number}` };
    return {
      number,
      name: 'upsert',
      body: JSON.stringify(body),
      idempotencyKey: `operation-${number}`,
    };
  }

  /** Sends an operation once. Resolves with the answer, or when its caller leaves. */
  push(operation: ChaosOperation = this.upsert()): Promise<AttemptEnd> {
    const ended = tryOperation(this.way, operation, this.leaving.signal);
    return this.run(ended.then(() => this.endOf(operation)));
  }

  /** Sends an operation until it is accepted. */
  async pushUntilAccepted(): Promise<void> {
    const operation = this.upsert();
    await untilTrue('a push that is accepted', async () => {
      const end = await this.push(operation);
      return isAccepted(end);
    });
  }

  async pushBatch(lines: readonly ChaosOperation[]): Promise<void> {
    await this.run(tryBatch(this.way, { key: undefined, lines }, { request: 1 }));
  }

  /** @returns how many pushes of the matter wait in the queue */
  queued(): Promise<number> {
    const { keys, lookup } = this.cluster;
    const group = groupOf(this.client().systemCode, EXTERNAL_ID);
    return lookup.llen(keys.partition(partitionOf(group, keys)));
  }

  /** Records a fault. @param act resolves when the fault is undone */
  async fault(kind: FaultKind, target: string, act: () => Promise<unknown>): Promise<void> {
    const from = performance.now();
    await act();
    this.faults.push({ kind, target, from, to: performance.now() });
  }

  /** Suspends processes during some work. */
  async stopped(members: readonly Member[], work: () => Promise<unknown>): Promise<void> {
    for (const member of members) member.kill('SIGSTOP');
    await work();
    for (const member of members) member.kill('SIGCONT');
  }

  /** Callers that still wait for an answer leave. Resolves when all tries are recorded. */
  async leave(): Promise<void> {
    this.leaving.abort();
    await Promise.all(this.running);
    this.sender.close();
  }

  private client(): DirectoryClient {
    const [client] = this.cluster.clients;
    if (!client) throw new Error('the cluster has no clients');
    return client;
  }

  private run<T>(request: Promise<T>): Promise<T> {
    this.running.add(request);
    return request.finally(() => this.running.delete(request));
  }

  private endOf({ number }: ChaosOperation): AttemptEnd {
    const last = this.attempts.findLast(({ operation }) => operation === number);
    if (!last) throw new Error(`operation ${number} was not sent`);
    return last.end;
  }
}
