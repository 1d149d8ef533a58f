/** The selection of a resend: what it is while a preview is shown, while pushes are sent, and after a stop. */
import type { HTTPRequest, Page } from 'puppeteer-core';
import { matterModel } from '../../src/storage/ledger/matters';
import { fillIn, isResend, press, shows } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { todo } from '../support/push-bodies';
import { until } from '../support/wait';

inConsole('the selection of a resend', {}, ({ service, open }) => {
  const fail = (externalId: string, field: string) =>
    service().push('upsert', todo(externalId, { title: 'Approve', [field]: 'no such' }));

  /** A tab with the failed matters of a field, all of them selected. */
  const selected = async (field: string) => {
    const group = `#/failures?reason=VALIDATION_FAILED&field=${field}&range=week&lang=en`;
    const page = await open(group, '.group .table');
    await press(page, '#select-all');
    return page;
  };
  const plan = async (page: Page, value: string) => {
    await fillIn(page, '#set-value', value);
    await press(page, '.set button[type="submit"]');
    await page.waitForSelector('.work .plan');
  };
  const countOf = (prefix: string) =>
    matterModel(service().db).countDocuments({ externalId: new RegExp(`^${prefix}-`) });

  test('another selection discards a preview, so a matter that is no longer selected is not sent', async () => {
    for (let n = 0; n < 3; n += 1) await fail(`SELECT-${n}`, 'pcUrl');
    const page = await selected('pcUrl');
    await plan(page, 'https://a.test/');
    await shows(page, '3 pushes of 3 matters will be resent', '.work');
    await shows(page, 'Where pcUrl is invalid, it is set to “https://a.test/”.', '.plan');
    await press(page, '.row[data-index="0"] input');
    await shows(page, 'The selection changed, so the preview was discarded.', '.group');
    expect(await page.$('#send')).toBeNull();
    await plan(page, 'https://a.test/');
    await shows(page, '2 pushes of 2 matters will be resent', '.work');
    await press(page, '#send');
    await shows(page, 'Done: 2 resent, 0 failed.', '.work');
    expect(await countOf('SELECT')).toBe(2);
  });

  test('one invalid value is replaced alone, and the preview names the values that one change replaces', async () => {
    await fail('FROM-0', 'deadlineAt');
    await service().push('upsert', todo('FROM-1', { deadlineAt: 'tomorrow' }));
    const page = await selected('deadlineAt');
    await page.waitForSelector('#set-from');
    const [time, remove] = ['2027-01-02T03:04:05+08:00', 'remove'];
    await plan(page, time);
    await shows(page, '2 different values are replaced: tomorrow, no such', '.plan');
    await press(page, '.work .buttons button:last-child');
    await page.select('#set-from', '0');
    await plan(page, time);
    await shows(
      page,
      `Where deadlineAt is “tomorrow” and invalid, it is set to “${time}”.`,
      '.plan',
    );
    await shows(page, '1 would be rejected again', '.work');
    await page.select('#set-from', '1');
    await page.select('#set-form', remove);
    await press(page, '.set button[type="submit"]');
    await shows(page, 'Where deadlineAt is “no such” and invalid, it is removed.', '.plan');
    await shows(page, '2 pushes of 2 matters will be resent', '.work');
    await press(page, '#send');
    await shows(page, 'Done: 2 resent, 0 failed.', '.work');
    const deadlines = await matterModel(service().db)
      .find({ externalId: /^FROM-/ })
      .lean()
      .exec();
    expect(Object.fromEntries(deadlines.map((it) => [it.externalId, it.deadlineAt]))).toEqual({
      ...{ 'FROM-0': null, 'FROM-1': new Date(time) },
    });
  });

  test('a preview that is started right after the selection stays', async () => {
    await fail('QUICK-0', 'sourceUpdatedAt');
    const group = '#/failures?reason=VALIDATION_FAILED&field=sourceUpdatedAt&range=week&lang=en';
    const page = await open(group, '.group .table');
    // Both clicks are in one frame: the page renders in a microtask after the first one.
    await page.evaluate(`(async () => {
      document.querySelector('#select-all').click();
      while (document.querySelector('#plan').disabled) await Promise.resolve();
      document.querySelector('#plan').click();
    })()`);
    await shows(page, '1 would be rejected again', '.work');
    expect(await page.$('.group .note')).toBeNull();
  });

  test('a stopped resend shows the results of the pushes that were already sent', async () => {
    const count = 103;
    for (let n = 0; n < count; n += 1) await fail(`STOP-${n}`, 'mobileUrl');
    const page = await selected('mobileUrl');
    await plan(page, 'https://a.test/');
    await shows(page, '103 pushes of 103 matters will be resent', '.work');
    const held: HTTPRequest[] = [];
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (isResend(request.url(), request.postData())) held.push(request);
      else void request.continue();
    });
    await press(page, '#send');
    await until('the first request', async () => held.length === 1);
    await page.waitForSelector('.row[data-index="0"] input:disabled');
    await press(page, '#stop');
    await shows(page, 'Stopping. Pushes that were already sent are finished first', '.work');
    await held[0]?.continue();
    await shows(page, 'Done: 100 resent, 0 failed.', '.work');
    await shows(page, '3 pushes were not resent and stay open failures.', '.work');
    expect([held.length, await countOf('STOP')]).toEqual([1, 100]);
    // It continues with the matters that are selected.
    await press(page, '#select-none');
    await page.waitForSelector('.work button.main:disabled');
    await press(page, '#select-all');
    await page.setRequestInterception(false);
    page.removeAllListeners('request');
    await press(page, '.work button.main');
    await shows(page, 'Done: 103 resent, 0 failed.', '.work');
    expect(await countOf('STOP')).toBe(count);
  });

  return undefined;
});
