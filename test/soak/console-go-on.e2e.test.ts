/** A matter of which only a part could be sent from the console, in a browser: what is left of it is not lost. */
import { importUsers } from '../../src/storage/directory/user-admin';
import { matterModel } from '../../src/storage/ledger/matter-model';
import { goTo, press, shows } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { until } from '../support/wait';

const GROUP =
  '#/failures?reason=UNKNOWN_USER&field=parties%5B%5D.username&range=week&lang=en' as const;
const BUSY = { code: 503, message: 'busy', reason: 'BACKLOG_FULL', data: null };
/** One more than a batch takes. */
const TITLES = ['first', 'second', 'third'];

inConsole('what the console sent in part', { env: { BATCH_MAX_ITEMS: '2' } }, (rig) => {
  const { service, entered } = rig;

  test('stays on the screen until it is gone on, and is not left by mistake', async () => {
    const { page } = await entered();
    await goTo(page, GROUP, '.group .table');
    await press(page, '#tick-all');
    await press(page, '#plan');
    await shows(page, '3 pushes of 1 matters will be sent', '.work');
    let batches = 0;
    let isBusy = true;
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (request.url().endsWith('/matters/batch')) batches += 1;
      if (!isBusy || batches < 2) return void request.continue();
      const headers = { 'Retry-After': '1' };
      void request.respond({ status: 503, headers, body: JSON.stringify(BUSY) });
    });
    await press(page, '#send');
    await shows(page, 'Stopped. 1 matters are not finished.', '.work');
    await shows(page, 'what is left of them is listed nowhere else', '.work');
    isBusy = false;
    // What was written mended it: it is in the list no more.
    await press(page, '.filters .again');
    await shows(page, '0 matters', '.count');
    await shows(page, 'Go on', '.work');

    const asked: string[] = [];
    let isLeft = false;
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void (isLeft ? dialog.accept() : dialog.dismiss());
    });
    const hash = () => page.evaluate('location.hash');
    await press(page, '.filters a');
    await until('the question', async () => asked.length === 1);
    await press(page, '#look-again');
    await until('the same question', async () => asked.length === 2);
    await press(page, 'header .tools > button:last-child');
    await until('it once more', async () => asked.length === 3);
    expect(await hash()).toContain('UNKNOWN_USER');
    await shows(page, 'Go on', '.work');

    await press(page, '.work button.main');
    await shows(page, 'Done: 1 written, 0 failed.', '.work');
    expect((await stored()).title).toBe('third');
    isLeft = true;
    await press(page, '.filters a');
    await page.waitForSelector('.inbox');
    expect(asked.map((it) => it.includes('listed nowhere else'))).toEqual([true, true, true]);
  });

  const stored = async () => {
    const matter = await matterModel(service().db).findOne({ externalId: 'PART' }).lean();
    if (!matter) throw new Error('there is no matter');
    return matter;
  };

  return async ({ push, db }) => {
    const parties = [{ username: 'newcomer', partyRole: 'ASSIGNEE' }];
    const matter = { matterType: 'TODO', externalId: 'PART', parties };
    for (const title of TITLES) await push('upsert', { ...matter, title });
    await importUsers(db, [{ username: 'newcomer', displayName: 'New' }]);
  };
});
