/** A tab of the console that is closed in the middle of a resend: the pushes that were not resent stay open failures. */
import { importUsers } from '../../src/storage/directory/user-admin';
import { matterModel } from '../../src/storage/ledger/matters';
import { goTo, isResend, press, shows } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { until } from '../support/wait';

const GROUP =
  '#/failures?reason=UNKNOWN_USER&field=parties%5B%5D.username&range=week&lang=en' as const;
const TITLES = ['first', 'second', 'third'];
/** With the three pushes of the matter, one more than a request takes. */
const OTHERS = 98;

inConsole('a resend in a tab that is closed', {}, ({ service, entered }) => {
  const titleOf = async (externalId: string) =>
    (await matterModel(service().db).findOne({ externalId }).lean())?.title;

  test('loses nothing: another tab shows the rest, and resends it', async () => {
    const { page, complaints } = await entered();
    await goTo(page, GROUP, '.group .table');
    await press(page, '#select-all');
    await press(page, '#plan');
    await shows(page, '101 pushes of 99 matters will be resent', '.work');
    let requests = 0;
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (isResend(request.url(), request.postData())) requests += 1;
      // The second request and its repetitions do not arrive.
      void (requests < 2 ? request.continue() : request.abort('connectionfailed'));
    });
    await press(page, '#send');
    await shows(page, 'Pushes that were not resent stay open failures.', '.work');
    // Perhaps a repetition of it already.
    await until('the second request', async () => requests >= 2);
    await page.close();
    expect(complaints.splice(0).every((it) => /ERR_|^failed: /.test(it))).toBe(true);
    expect(await titleOf('PART')).toBe('second');

    const { page: other } = await entered();
    await goTo(other, GROUP, '.group .table');
    await shows(other, '1 matters', '.count');
    await press(other, '#select-all');
    await press(other, '#plan');
    await shows(other, '1 pushes of 1 matters will be resent', '.work');
    await press(other, '#send');
    await shows(other, 'Done: 1 resent, 0 failed.', '.work');
    expect(await titleOf('PART')).toBe('third');
    await press(other, '#look-again');
    await shows(other, 'All failures of this kind are resolved.', '.group, .empty');
  });

  return async ({ push, db }) => {
    const parties = [{ username: 'newcomer', partyRole: 'ASSIGNEE' }];
    const fail = (externalId: string, title: string) =>
      push('upsert', { matterType: 'TODO', externalId, parties, title });
    for (const title of TITLES) await fail('PART', title);
    for (let n = 0; n < OTHERS; n += 1) await fail(`OTHER-${n}`, 'other');
    await importUsers(db, [{ username: 'newcomer', displayName: 'New' }]);
  };
});
