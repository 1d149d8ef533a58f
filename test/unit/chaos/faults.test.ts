/** Faults are carried out as planned, one at a time on each target, and always undone. */
import { runFaults } from '../../../tools/chaos/faults';
import { FAULT_KINDS, type FaultKind, GROUP_FAULT_KINDS } from '../../../tools/chaos/history';
import type { PlannedFault } from '../../../tools/chaos/plan';
import type { Cluster } from '../../../tools/harness/cluster';
import { until } from '../../support/wait';

let log: string[];
/** What a restart waits for. */
let comeBack: () => Promise<unknown>;
/** A name whose restart fails. */
let broken: string | undefined;
beforeEach(() => {
  [log, comeBack, broken] = [[], async () => undefined, undefined];
});

const note = (what: string) => void log.push(what);
const member = (name: string) => ({
  name,
  kill: (signal: string) => note(`${signal} ${name}`),
  restart: async () => {
    await comeBack();
    if (name === broken) throw new Error(`${name} does not come back`);
    note(`${name} is back`);
  },
});
const server = (name: string) => ({
  ...member(name),
  primary: async () => member('the primary'),
  secondary: async () => member('a secondary'),
  failOver: async (meanwhile: () => Promise<void>) => {
    note(`${name} hears of nothing`);
    await meanwhile();
    note(`${name} is another one`);
  },
  group: {
    primary: async () => member('a primary'),
    switchOver: async () => note('another primary'),
    whole: async () => note('whole'),
  },
  proxy: way(name),
  wayOf: (process: string) => way(`${name} of ${process}`),
});
const way = (name: string) => ({
  setDelay: (ms: number) => note(`delay ${name} ${ms}`),
  setDropping: (on: boolean) => note(`drop ${name} ${on}`),
  setRefusing: async (on: boolean) => note(`refuse ${name} ${on}`),
  strand: () => note(`strand ${name}`),
  reset: () => note(`reset ${name}`),
  cutMidCommand: async () => note(`cut ${name}`),
});
const cluster = {
  webs: [member('web-0')],
  workers: [member('worker-0')],
  redis: server('redis'),
  mongo: server('mongo'),
  keys: { shards: 1, bullPrefix: () => '{chaos}' },
  lookup: {
    flushall: async () => note('flush'),
    info: async () => '# Memory\r\nused_memory:1048576\r\n',
    config: async (...words: unknown[]) => note(words.join(' ')),
  },
} as unknown as Cluster;

const targetOf = (kind: FaultKind) => {
  const place = kind.split('-').at(-1) ?? '';
  if (place === 'primary') return 'mongo';
  if (place === 'group') return 'redis';
  return place === 'web' || place === 'worker' ? `${place}-0` : place;
};
const fault = (kind: FaultKind, at = 0, lasts = 1): PlannedFault => ({
  ...{ at, kind, target: targetOf(kind), lasts },
  ...(/^(delay|fill|outrun)/.test(kind) && { amount: 50 }),
});
const clock = () => performance.now();

/** By a real set alone: test/integration/chaos/servers.test.ts. */
const BY_COMMAND = [
  'stepdown-primary',
  'orphan-primary',
  'lag-secondary',
  'reject-sessions',
] as const;
type ByCommand = (typeof BY_COMMAND)[number];

const STEPS: Readonly<Record<Exclude<FaultKind, ByCommand>, readonly string[]>> = {
  'kill-web': ['SIGKILL web-0', 'web-0 is back'],
  'kill-worker': ['SIGKILL worker-0', 'worker-0 is back'],
  'stop-web': ['SIGSTOP web-0', 'SIGCONT web-0'],
  'stop-worker': ['SIGSTOP worker-0', 'SIGCONT worker-0'],
  'restart-web': ['SIGTERM web-0', 'web-0 is back'],
  'restart-worker': ['SIGTERM worker-0', 'worker-0 is back'],
  'leave-worker': ['SIGTERM worker-0', 'worker-0 is back'],
  'outrun-worker': ['delay mongo of worker-0 50', 'flush', 'delay mongo of worker-0 0'],
  'drop-mongo-web': ['drop mongo of web-0 true', 'drop mongo of web-0 false'],
  'refuse-mongo-web': ['refuse mongo of web-0 true', 'refuse mongo of web-0 false'],
  'drop-redis-web': ['drop redis of web-0 true', 'drop redis of web-0 false'],
  'refuse-redis-web': ['refuse redis of web-0 true', 'refuse redis of web-0 false'],
  'drop-mongo-worker': ['drop mongo of worker-0 true', 'drop mongo of worker-0 false'],
  'refuse-mongo-worker': ['refuse mongo of worker-0 true', 'refuse mongo of worker-0 false'],
  'drop-redis-worker': ['drop redis of worker-0 true', 'drop redis of worker-0 false'],
  'refuse-redis-worker': ['refuse redis of worker-0 true', 'refuse redis of worker-0 false'],
  'restart-redis': ['SIGKILL redis', 'redis is back'],
  'flush-redis': ['flush'],
  'restart-mongo': ['SIGKILL mongo', 'mongo is back'],
  'delay-redis': ['delay redis 50', 'delay redis 0'],
  'drop-redis': ['drop redis true', 'drop redis false'],
  'reset-redis': ['reset redis'],
  'cut-redis': ['cut redis'],
  'strand-redis': ['strand redis'],
  'delay-mongo': ['delay mongo 50', 'delay mongo 0'],
  'drop-mongo': ['drop mongo true', 'drop mongo false'],
  'reset-mongo': ['reset mongo'],
  'cut-mongo': ['cut mongo'],
  'strand-mongo': ['strand mongo'],
  'kill-primary': ['SIGKILL the primary', 'the primary is back'],
  'stop-primary': ['SIGSTOP the primary', 'SIGCONT the primary'],
  'stop-secondary': ['SIGSTOP a secondary', 'SIGCONT a secondary'],
  'failover-redis': ['redis hears of nothing', 'redis is another one'],
  'switch-redis': ['redis hears of nothing', 'redis is another one', 'reset redis'],
  'fill-redis': ['SET maxmemory 1099776', 'SET maxmemory 0'],
  'kill-group': ['SIGKILL a primary', 'a primary is back', 'whole'],
  'stop-group': ['SIGSTOP a primary', 'SIGCONT a primary', 'whole'],
  'switch-group': ['another primary', 'whole'],
};

test('every kind has a test', () => {
  expect([...Object.keys(STEPS), ...BY_COMMAND].sort()).toEqual(
    [...FAULT_KINDS, ...GROUP_FAULT_KINDS].sort(),
  );
});

test.each(Object.keys(STEPS) as (keyof typeof STEPS)[])('%s', async (kind) => {
  const [done] = await runFaults([fault(kind)], cluster, { clock });
  expect(log).toEqual(STEPS[kind]);
  expect(done).toMatchObject({ kind, target: targetOf(kind) });
});

test('a record says from when to when it was there', async () => {
  let backAt = 0;
  comeBack = async () => {
    backAt = clock();
  };
  const before = clock();
  const [done] = await runFaults([fault('kill-web', 30, 40)], cluster, { clock });
  // Timers of Node may fire one millisecond early.
  expect(done?.from).toBeGreaterThanOrEqual(before + 28);
  expect(backAt - Number(done?.from)).toBeGreaterThanOrEqual(38);
  expect(done?.to).toBeGreaterThanOrEqual(backAt);
  expect(done?.to).toBeLessThanOrEqual(clock());
});

test('faults on several targets overlap; one whose target is not back yet waits for it', async () => {
  // web-0 comes back after the fault of Redis, and after the next fault of web-0 is due.
  comeBack = () => until('the fault of Redis to end', async () => log.includes('drop redis false'));
  const plan = [fault('kill-web'), fault('drop-redis', 10, 20), fault('stop-web', 20)];
  const done = await runFaults(plan, cluster, { clock });
  expect(log).toEqual([
    'SIGKILL web-0',
    'drop redis true',
    'drop redis false',
    'web-0 is back',
    'SIGSTOP web-0',
    'SIGCONT web-0',
  ]);
  expect(done.map(({ kind }) => kind)).toEqual(['drop-redis', 'kill-web', 'stop-web']);
});

test('when the run is given up, what is there is undone at once and nothing more starts', async () => {
  const plan = [
    fault('stop-worker', 0, 60_000),
    fault('drop-mongo', 0, 60_000),
    fault('kill-web', 60_000),
  ];
  const ending = new AbortController();
  const running = runFaults(plan, cluster, { clock, signal: ending.signal });
  await until('both to be there', async () => log.length === 2);
  ending.abort();
  const done = await running;
  expect(log.slice(0, 2)).toEqual(['SIGSTOP worker-0', 'drop mongo true']);
  expect(log.slice(2).sort()).toEqual(['SIGCONT worker-0', 'drop mongo false']);
  expect(done).toHaveLength(2);
});

test('a server that does not come back ends the run with an error, the rest undone', async () => {
  broken = 'mongo';
  const plan = [
    fault('stop-worker', 0, 60_000),
    fault('restart-mongo', 10),
    fault('kill-web', 60_000),
  ];
  await expect(runFaults(plan, cluster, { clock })).rejects.toThrow('mongo does not come back');
  expect(log).toEqual(['SIGSTOP worker-0', 'SIGKILL mongo', 'SIGCONT worker-0']);
});
