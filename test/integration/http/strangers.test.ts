/** Client ids are public. Whoever knows one can be rejected as often as they like: it fills no disk. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientModel } from '../../../src/storage/directory/client-model';
import { bodyModel, entryModel } from '../../../src/storage/push-log/entry';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const DAY = 86_400_000;
/** Each of the two processes records a hundred entries of one client at once, and one more each minute. */
const MOST = 2 * 105;
/** Of one reason and client one a second is told, and how many more there were. */
const LINES_A_SECOND = 2;

let service: Service;
let seconds: number;
/** Request ids. Under load a request may be turned down for other reasons before its signature is looked at. */
const rejected: string[] = [];
beforeAll(async () => {
  service = await startService({ webs: 2, metrics: true, env: { LOG_LEVEL: 'info' } });
  const began = Date.now();
  for (let wave = 0; wave < 8; wave += 1) {
    const sent = Array.from({ length: 100 }, (_, n) =>
      service.push('status', { externalId: `S-${n}` }, { url: service.urlOf(n % 2), secret: 'no' }),
    );
    for (const { requestId, reason } of await Promise.all(sent)) {
      if (reason === 'SIGNATURE_MISMATCH') rejected.push(requestId);
    }
    await sleep(1_000);
  }
  seconds = Math.ceil((Date.now() - began) / 1_000);
  // They are recorded, and told, in the background.
  await until('each to be told or counted', async () => {
    const { told, suppressed } = toldIn(linesOf());
    return told + suppressed === rejected.length;
  });
});
afterAll(() => service.stop());

const entries = () =>
  entryModel(service.db).find({ clientId: service.clientId, result: 'SIGNATURE_MISMATCH' }).lean();

test('of a flood over two processes a handful is recorded, for a day', async () => {
  expect(rejected.length).toBeGreaterThan(MOST);
  const found = await entries();
  expect(found.length).toBeGreaterThan(20);
  expect(found.length).toBeLessThanOrEqual(MOST);
  for (const { receivedAt, expireAt } of found) {
    expect(expireAt?.getTime()).toBe(receivedAt.getTime() + DAY);
  }
  const bodies = await bodyModel(service.db).find().lean();
  expect(bodies.length).toBeGreaterThan(0);
  for (const { receivedAt, expireAt } of bodies) {
    expect(expireAt?.getTime()).toBe(receivedAt.getTime() + DAY);
  }
});

test('the database removes them by itself, and what has no end of its own costs that nothing', async () => {
  for (const { collection } of [entryModel(service.db), bodyModel(service.db)]) {
    const index = (await collection.indexes()).find(({ name }) => name === 'expiry');
    expect(index).toMatchObject({ key: { expireAt: 1 }, expireAfterSeconds: 0, sparse: true });
  }
});

/** Of the rejections, in the logs of both web processes. */
function linesOf(): { requestId?: string; suppressed?: number }[] {
  // Processes that are started together write into one file.
  const files = new Set(service.webs.map(({ logFile }) => logFile));
  return [...files].flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes('SIGNATURE_MISMATCH') && line.endsWith('}'))
      .map((line) => JSON.parse(line)),
  );
}

/** How many rejections have a line of their own, and how many others the lines count. */
function toldIn(lines: ReturnType<typeof linesOf>) {
  const told = lines.filter(({ requestId }) => requestId !== undefined).length;
  return { told, suppressed: lines.reduce((sum, line) => sum + (line.suppressed ?? 0), 0) };
}

test('the logs tell each rejection or count it, in a few lines a second', () => {
  const lines = linesOf();
  expect(lines.length).toBeLessThanOrEqual(2 * LINES_A_SECOND * (seconds + 1));
  const { told, suppressed } = toldIn(lines);
  expect(told + suppressed).toBe(rejected.length);
});

test('metrics count what was not recorded', async () => {
  const counted = async () => {
    const texts = await Promise.all(service.metricsUrls.slice(0, 2).map(read));
    return texts.reduce((sum, text) => sum + unrecordedIn(text), 0);
  };
  // The last ones may be on their way into the log.
  await until('all of them', async () => {
    const recorded = (await entries()).length;
    return (await counted()) === rejected.length - recorded;
  });
});

const read = async (url: string) => (await fetch(url)).text();
const unrecordedIn = (text: string) =>
  [...text.matchAll(/^matter_push_rejections_unrecorded_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );

test('the client itself is let in, and what it signed itself stays as long as any push', async () => {
  const reused = await service.push('status', { externalId: 'NONE' });
  expect(reused).toMatchObject({ code: 404 });
  const invalid = await service.push('upsert', { title: 'no type' });
  expect(invalid).toMatchObject({ code: 400 });
  const entry = await until('its entry', () =>
    entryModel(service.db).findById(invalid.requestId).lean(),
  );
  expect(entry).toMatchObject({ state: 'REFUSED' });
  expect(entry).not.toHaveProperty('expireAt');
});

test('a client without a secret can be rejected by anybody too: that ends with the day as well', async () => {
  await clientModel(service.db).create({
    ...{ _id: 'public', type: 'PUBLIC', systemCode: 'P', enabled: true, secrets: [] },
    createdAt: new Date(),
  });
  const entry = await until('an entry', async () => {
    await service.push('status', { externalId: 'X' }, { clientId: 'public' });
    return entryModel(service.db).findOne({ clientId: 'public' }).lean();
  });
  expect(entry).toMatchObject({ result: 'NO_USABLE_SECRET', expireAt: expect.any(Date) });
});
