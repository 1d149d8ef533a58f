/**
 * Two relays of the outbox example at once: both are killed again and again, answers are lost, and PostgreSQL crashes. The
 * operations of each matter are chosen so that the outcomes show whether one was lost, doubled or out of order.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { matterModel } from '../../src/storage/ledger/matters';
import { missingForOutbox, type OutboxRig, startOutboxRig } from '../support/outbox-rig';
import { type Relay, startRelay } from '../support/relay';
import { until } from '../support/wait';

/** More than two batches of one row per matter, so that both relays always find rows. */
const MATTERS = 450;
const CYCLES = 3;
/** Each relay loses every fourth answer for good, and gets every fifth only in part. */
const [HELD, CUT] = [4, 5];
/** Half of the requests are late by up to this: requests of the other relay overtake them. */
const DELAY_MS = 300;
const SHORT_LIFE_MS = 1_000;

const missing = missingForOutbox();
if (missing) {
  console.warn(
    `SKIPPED: two relays of the outbox were not tried, because there is no ${missing} here`,
  );
  test.skip(`two relays of the outbox example (skipped: no ${missing} here)`, () => {});
} else {
  describe('two relays of the outbox example', tryRelays);
}

interface Push {
  readonly op: string;
  readonly body: { readonly externalId: string };
  readonly outcome: string;
}

/** The pushes of one matter, with their outcomes in this order. */
function pushesOf(externalId: string): Push[] {
  const upsert = (title: string, outcome: string): Push => ({
    ...{ op: 'upsert', outcome },
    body: { externalId, ...{ matterType: 'NOTICE', title } },
  });
  const cycles = Array.from({ length: CYCLES }, (_, cycle): Push[] => [
    upsert(`cycle ${cycle}`, cycle === 0 ? 'CREATED' : 'REVIVED'),
    { op: 'status', body: { externalId, ...{ bizStatus: `STEP_${cycle}` } }, outcome: 'UPDATED' },
    { op: 'delete', body: { externalId }, outcome: 'DELETED' },
  ]);
  return [...cycles.flat(), upsert('the end', 'REVIVED')];
}

function tryRelays(): void {
  let rig: OutboxRig;
  const gateways: Relay[] = [];
  const kills = [0, 0];
  let finished = false;
  beforeAll(async () => {
    rig = await startOutboxRig();
    for (const _ of kills) {
      const gateway = await startRelay(rig.service.urlOf());
      gateway.delay = () => sleep(Math.random() < 0.5 ? 0 : DELAY_MS * Math.random());
      gateway.fate = (_one, nth) => {
        if (nth % HELD === 0) return 'hold';
        return nth % CUT === 0 ? 'cut' : 'pass';
      };
      gateways.push(gateway);
    }
  });
  afterAll(async () => {
    await rig?.stop();
    await Promise.all(gateways.map((gateway) => gateway.close()));
  });

  const matters = Array.from({ length: MATTERS }, (_, number) => `PR-${number}`);
  const stored = (externalId: string) =>
    matterModel(rig.service.db).findOne({ systemCode: 'TEST', externalId }).lean();
  const count = async (where: string) => {
    const [[number] = []] = await rig.db.query(`SELECT count(*) FROM outbox WHERE ${where}`);
    return Number(number);
  };

  /** Writes the next `each` pushes of every matter, mixed as the business transactions of many users are. */
  const next = new Map(matters.map((externalId) => [externalId, pushesOf(externalId)]));
  const insert = (each: number) => {
    const order = matters
      .flatMap((externalId) => Array.from({ length: each }, () => externalId))
      .map((externalId) => ({ externalId, place: Math.random() }))
      .sort((one, other) => one.place - other.place);
    const values = order.map(({ externalId }) => {
      const push = next.get(externalId)?.shift();
      return `('${push?.op}', '${JSON.stringify(push?.body)}')`;
    });
    return rig.db.query(`INSERT INTO outbox (op, body) VALUES ${values.join(',')}`);
  };

  /** Keeps one relay running. Kills it when its gateway holds an answer, or at a moment of chance. */
  async function keepKilling(nth: number, gateway: Relay): Promise<void> {
    let held = 0;
    for (let lives = 1; !finished; lives += 1) {
      const relay = await rig.startRelay(gateway.url);
      // Longer from life to life, so that a slow machine makes progress too.
      const end = Date.now() + SHORT_LIFE_MS * (1 + lives * Math.random());
      await until('a moment to kill the relay', async () => {
        const before = held;
        held = Math.floor(gateway.relayed.length / HELD);
        return finished || held > before || Date.now() > end;
      });
      relay.kill('SIGKILL');
      await relay.exited;
      kills[nth] = lives;
    }
  }

  test('no push is lost, doubled or out of order', async () => {
    const total = pushesOf('').length;
    await insert(total - 4);
    const keepers = gateways.map((gateway, nth) => keepKilling(nth, gateway));
    try {
      const done = (least: number) => async () => (await count("state = 'done'")) > least;
      await until('some rows to be done', done(MATTERS));
      await insert(4);
      await until('half of the rows to be done', done((MATTERS * total) / 2));
      await rig.db.crash();
      await rig.untilNoneWaits();
    } finally {
      finished = true;
      await Promise.all(keepers);
    }

    // Each row was marked once, whichever relay sent it.
    expect(await count("state = 'done' AND tries = 1")).toBe(MATTERS * total);
    const outcomes = await rig.db.query(
      "SELECT external_id, string_agg(answer ->> 'outcome', ' ' ORDER BY id) FROM outbox GROUP BY 1",
    );
    const expected = pushesOf('').map(({ outcome }) => outcome);
    expect(new Map(outcomes.map(([id = '', texts]) => [id, texts]))).toEqual(
      new Map(matters.map((id) => [id, expected.join(' ')])),
    );

    // The same pushes, one by one without an outbox, give the same ledger.
    for (const { op, body } of pushesOf('BY-HAND')) await rig.service.push(op, body);
    const byHand = await stored('BY-HAND');
    for (const externalId of matters) {
      const { revision, title, bizStatus } = byHand ?? {};
      expect(await stored(externalId)).toMatchObject({ revision, title, bizStatus, externalId });
    }

    // Both relays did their part, both were killed, and what was lost on the way was sent again.
    for (const [nth, gateway] of gateways.entries()) {
      expect([nth, gateway.relayed.length > HELD, (kills[nth] ?? 0) > 0]).toEqual([
        nth,
        true,
        true,
      ]);
    }
    expect(await count("answer ->> 'replayed' = 'true'")).toBeGreaterThan(0);
  });
}
