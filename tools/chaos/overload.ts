/** `npm run chaos -- --overload`: three times what the service can do, a stall, and a noisy neighbour. */
import type { Cluster } from './cluster';
import { measureFairness } from './fairness';
import type { Send } from './load';
import { createPushes } from './load-pushes';
import type { Measured, MeasureOptions } from './load-report';
import { createLoadSender } from './load-sender';
import { narrowLine } from './overload-line';
import { runRounds, waitUntilIdle } from './overload-rounds';
import { type OverloadFigures, overloadRows } from './overload-rows';
import { stallDatabase } from './overload-stall';
import { SMALL, withCluster } from './with-cluster';

const HASTE = 3;

export async function measureOverload(options: MeasureOptions): Promise<Measured> {
  const overload = await withCluster({ ...options, ...SMALL }, (cluster) =>
    measure(cluster, options),
  );
  const fairness = await measureFairness(options);
  return {
    rows: [...overloadRows(overload), ...fairness.rows],
    figures: { ...overload, ...fairness.figures },
  };
}

async function measure(
  cluster: Cluster,
  { say, quick, signal }: MeasureOptions,
): Promise<OverloadFigures> {
  const how = { say, haste: quick ? HASTE : 1, ...(signal && { signal }) };
  const { send, close } = createSend(cluster);
  // Nobody waits for the answers of a run that is given up.
  signal?.addEventListener('abort', close);
  try {
    const line = await narrowLine(cluster, send, how);
    await waitUntilIdle(cluster, signal);
    const rounds = await runRounds(cluster, send, how);
    say('The database stalls now');
    const rate = rounds.at(-1)?.rate ?? 0;
    const stall = await stallDatabase(cluster, send, { ...how, rate });
    return { pushTimeout: cluster.config.PUSH_TIMEOUT, line, rounds, stall };
  } finally {
    signal?.removeEventListener('abort', close);
    close();
  }
}

/** All clients of the cluster in turn, each to the one web process. */
function createSend({ webs: [web], clients }: Cluster): { send: Send; close: () => void } {
  if (!web) throw new Error('the cluster has no web process');
  const senders = clients.map((client) => createLoadSender(web.url, client));
  const next = createPushes();
  let sent = 0;
  const send: Send = () => {
    const sender = senders[sent % senders.length];
    if (!sender) throw new Error('the cluster has no clients');
    sent += 1;
    return sender.send(next());
  };
  const close = () => {
    for (const sender of senders) sender.close();
  };
  return { send, close };
}
