/** The console's pushes in a browser where the log is long, and what is asked for is rare and far back in it. */
import { nativeCollection } from '../../src/infra/mongo';
import { entryModel, type LogEntry } from '../../src/storage/push-log/entry';
import { press, shows, textOf } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { aLogEntry } from '../support/log-entries';
import type { Service } from '../support/service';

const RANGE = 'range=week&lang=en';
/** More than a screen goes through without being asked, at 5,000 for each request. */
const ENTRIES = 130_000;
const STALE_AT = 20_000;
const BATCH = 10_000;

/** Written an hour ago, one each millisecond. Two were ignored as stale: one is far back, one much further. */
async function plantLog({ db, clientId }: Service): Promise<void> {
  const start = Date.now() - 3_600_000;
  const entryOf = (n: number): LogEntry => {
    const at = new Date(start - n);
    const result = n === ENTRIES - 1 || n === STALE_AT ? 'STALE_IGNORED' : 'UPDATED';
    const operation = n % 2 ? 'upsert' : 'status';
    const ended = { settledAt: at, state: 'PERSISTED', result } as const;
    return aLogEntry({ clientId, operation, externalId: `L-${n}`, ...ended }, start - n);
  };
  const collection = nativeCollection<LogEntry>(entryModel(db));
  for (let at = 0; at < ENTRIES; at += BATCH) {
    const some = Array.from({ length: BATCH }, (_, n) => entryOf(at + n));
    await collection.insertMany(some, { ordered: false });
  }
}

inConsole('pushes of a long log in a browser', {}, ({ service, open }) => {
  test('what is rare is found behind pages that are empty', async () => {
    const page = await open(`#/pushes?${RANGE}&view=stale&operation=status`, '.pushes .table');
    await shows(page, `L-${STALE_AT}`, '.pushes .table');
    await shows(page, 'Pushes: 1', '.pushes');
  });

  test('what is further back than is looked at without being asked is found where somebody looks on; live, it stays', async () => {
    const page = await open(`#/pushes?${RANGE}&view=stale&operation=upsert`, '.pushes .buttons');
    expect(await textOf(page, '.pushes .buttons')).toContain('Older entries were not searched yet');
    await press(page, '.pushes .buttons button');
    await shows(page, `L-${ENTRIES - 1}`, '.pushes .table');
    // A look of ten pages, which stops far above the row that is there, and the next one.
    let asked = 0;
    page.on('response', (answer) => {
      if (answer.url().endsWith('push-logs/query')) asked += 1;
    });
    await press(page, '.filters input[type="checkbox"]');
    while (asked < 11) {
      await page.waitForResponse((answer) => answer.url().endsWith('push-logs/query'));
      expect(await textOf(page, '.pushes .table')).toContain(`L-${ENTRIES - 1}`);
    }
    for (const sourceUpdatedAt of [2_000, 1_000]) {
      const body = { matterType: 'TODO', externalId: 'NEW', title: 'new', sourceUpdatedAt };
      await service().push('upsert', body);
    }
    await shows(page, 'NEW', '.pushes .table');
    await shows(page, 'Pushes: 2', '.pushes');
  });

  return plantLog;
});
