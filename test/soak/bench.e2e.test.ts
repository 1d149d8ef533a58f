/** Every contender of the comparison works: what does not take its pushes would be easy to beat. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTENDERS, type ContenderName, otherBuildIn } from '../../tools/bench/contenders';
import { measureScenario } from '../../tools/bench/measure';
import { projectRoot } from '../../tools/local/project';
import { testServers } from '../support/service';

/** Contenders whose pushes share commands, or make none. */
const SHARING = ['web-only', 'batches', 'bulk-write'];

/** 1,600 lines at once, of processes a second old: where the machine is busy they may shed some. */
const SHED = '503 BACKLOG_FULL';
const isShed = (text: string) => text.startsWith('batches: ') && text.endsWith(`answered ${SHED}`);

test('all contenders accept every push, of distinct keys and of one', async () => {
  const { mongoUrl, redisUrl } = testServers();
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-bench-test-'));
  const all = Object.keys(CONTENDERS) as ContenderName[];
  const said: string[] = [];
  try {
    for (const keys of ['distinct', 'hot'] as const) {
      // It knows nothing of two who make one matter at once.
      const contenders = all.filter((name) => keys === 'distinct' || name !== 'bulk-write');
      const measured = await measureScenario(
        {
          name: `test-${keys}`,
          keys,
          connections: 3,
          sizes: [{ webs: 1, workers: 1 }],
          contenders,
          // A busy machine is slow, and none of this is about the deadline.
          env: { PUSH_TIMEOUT: '120s', BATCH_TIMEOUT: '120s', DRAIN_TIMEOUT: '150s' },
        },
        {
          ground: { root: projectRoot(), folder, mongoUrl, redisUrl },
          ...{ servers: {}, rounds: 1, warmUp: 200, duration: 800 },
          say: (text) => said.push(text),
          signal: AbortSignal.timeout(400_000),
        },
      );
      expect(measured.map(({ contender }) => contender)).toEqual(contenders);
      for (const { contender, rounds } of measured) {
        const others = rounds.map((round) => ({ ...round.others }));
        if (contender === 'batches') for (const round of others) delete round[SHED];
        expect({ contender, others }).toEqual({ contender, others: [{}] });
        expect(rounds[0]?.accepted).toBeGreaterThan(0);
        // An entry, a matter, the entry again; but the counts are a moment old at either end.
        const { database = 0 } = rounds[0]?.commands ?? {};
        if (contender === 'direct') expect(database).toBeGreaterThan(2);
        else if (!SHARING.includes(contender)) expect(database).toBeGreaterThan(0.5);
      }
    }
    expect(said.filter((text) => !isShed(text))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('another build starts itself, and its pushes are measured beside those of this build', async () => {
  const { mongoUrl, redisUrl } = testServers();
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-bench-test-'));
  expect(() => otherBuildIn(folder)).toThrow(/no build there/);
  try {
    const measured = await measureScenario(
      {
        ...{ name: 'test-builds', keys: 'distinct', connections: 3 },
        ...{ sizes: [{ webs: 1, workers: 1 }], contenders: ['matter-push'] },
      },
      {
        ground: { root: projectRoot(), folder, mongoUrl, redisUrl },
        against: otherBuildIn(projectRoot()),
        ...{ servers: {}, rounds: 2, warmUp: 200, duration: 800 },
        say: () => undefined,
        signal: AbortSignal.timeout(400_000),
      },
    );
    expect(measured.map(({ isOtherBuild }) => isOtherBuild)).toEqual([undefined, true]);
    for (const { rounds } of measured) {
      expect(rounds.map(({ accepted }) => accepted > 0)).toEqual([true, true]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
