/**
 * The console in a browser when something changes behind its back: its key ends, its client is paused, another
 * tab resolves a failure first, the bodies are gone. And what a key without bodies shows.
 */
import type { Page } from 'puppeteer-core';
import { clientModel } from '../../src/storage/directory/client-model';
import { matterModel } from '../../src/storage/ledger/matters';
import { bodyModel, entryModel } from '../../src/storage/push-log/entry';
import { type ConsoleKey, makeConsoleKey } from '../support/console-key';
import { askToResend, fillIn, fixPush, goTo, press, shows, textOf } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { todo } from '../support/push-bodies';
import { until } from '../support/wait';

const RANGE = 'range=week&lang=en';
const NOT_ACCEPTED = 'The key was not accepted: it expired, was revoked, or is wrong.';

inConsole('keys, pauses and two tabs in a browser', {}, ({ service, key, open, enter, ctl }) => {
  const upsert = (externalId: string, more: object = {}) =>
    service().push('upsert', todo(externalId, { title: 'Approve', ...more }));

  const endNow = ({ clientId, keyId }: ConsoleKey) =>
    clientModel(service().db).updateOne(
      { _id: clientId, 'queryKeys.id': keyId },
      { $set: { 'queryKeys.$.expiresAt': new Date() } },
    );
  const revoke = ({ clientId, keyId }: ConsoleKey) => ctl('client', 'revoke', clientId, keyId);
  const isOver = ({ key: secret }: ConsoleKey) =>
    until('its end to be known', async () => {
      const answer = await service().push('', {}, { path: '/api/open/clients/me', secret });
      return answer.code === 401;
    });
  const isRefused = async (page: Page) => {
    await page.waitForSelector('.entrance .failure');
    expect(await textOf(page, '.entrance .failure')).toContain(NOT_ACCEPTED);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await page.evaluate('location.href')).not.toContain('key');
  };

  test('a link whose key has ended leads to the entrance, which says so', async () => {
    const ended = await makeConsoleKey(service());
    await endNow(ended);
    await isOver(ended);
    const page = await enter(ended);
    await page.evaluate('location.hash = "#/overview?lang=en"');
    await shows(page, 'The key was not accepted', '.entrance');
    await isRefused(page);
  });

  test.each([
    ['ends', endNow],
    ['is revoked', revoke],
  ])(
    'a key that %s while a screen is open leads there too; with another one the screen is there again',
    async (_, end) => {
      await upsert('OPEN', { title: '' });
      const own = await makeConsoleKey(service());
      const page = await open(`#/failures?${RANGE}`, '.groups', own);
      await end(own);
      await isOver(own);
      await press(page, '.again');
      await isRefused(page);
      expect(await page.$('.groups')).toBeNull();
      await fillIn(page, '#client', key().clientId);
      await fillIn(page, '#key', key().key);
      await press(page, '.entrance button.main');
      await page.waitForSelector('.groups');
    },
  );

  test('a paused client is shown in the frame of every screen, with since when and why', async () => {
    await ctl('queue', 'pause', service().clientId, '--reason', 'month <b>end</b>');
    try {
      await until('the pause', async () => (await upsert('P-1')).reason === 'CLIENT_PAUSED');
      const page = await open(`#/pushes?${RANGE}`, '.pushes');
      await page.waitForSelector('main .paused');
      const { paused } = (await clientModel(service().db).findById(key().clientId).lean()) ?? {};
      const at = new Intl.DateTimeFormat('en-GB', {
        ...{ timeZone: 'Asia/Shanghai', dateStyle: 'short', timeStyle: 'medium' },
      }).format(paused?.since);
      expect(await textOf(page, 'main .paused')).toBe(
        `Pushes paused since ${at}: month <b>end</b>`,
      );
      await ctl('queue', 'resume', service().clientId);
      await until('its end', async () => (await upsert('P-1')).code === 0);
      await page.reload({ waitUntil: 'domcontentloaded' });
      await shows(page, 'read and push', '.who');
      expect(await page.$('main .paused')).toBeNull();
    } finally {
      await ctl('queue', 'resume', service().clientId);
    }
  });

  /** A tab with the failed matters of a field, all of them selected. */
  const selected = async (field: string) => {
    const group = `#/failures?reason=VALIDATION_FAILED&field=${field}&${RANGE}`;
    const page = await open(group, '.group .table');
    await press(page, '#select-all');
    return page;
  };
  const plan = async (page: Page, value: string) => {
    await fillIn(page, '#set-value', value);
    await press(page, '.set button[type="submit"]');
    await page.waitForSelector('.work .plan');
  };
  const ledgerOf = (prefix: string) =>
    matterModel(service().db)
      .find({ externalId: new RegExp(`^${prefix}-`) })
      .sort({ externalId: 1 })
      .lean();
  const pushesOf = (prefix: string) =>
    entryModel(service().db).countDocuments({ externalId: new RegExp(`^${prefix}-`) });

  test('what another tab resolved while a preview was open is not resent, and the result says so', async () => {
    for (let n = 0; n < 3; n += 1) await upsert(`TWO-${n}`, { pcUrl: 'no such' });
    const a = await selected('pcUrl');
    await plan(a, 'https://a.test/');
    await shows(a, '3 pushes of 3 matters will be resent', '.work');
    const b = await selected('pcUrl');
    await plan(b, 'https://b.test/');
    await press(b, '#send');
    await shows(b, 'Done: 3 resent, 0 failed.', '.work');
    const [before, pushes] = [await ledgerOf('TWO'), await pushesOf('TWO')];
    expect(before.map(({ pcUrl }) => pcUrl)).toEqual(Array(3).fill('https://b.test/'));
    await press(a, '#send');
    await shows(a, 'Done: 0 resent, 0 failed.', '.work');
    await shows(a, '3 were already resolved and were not resent.', '.work');
    expect([await ledgerOf('TWO'), await pushesOf('TWO')]).toEqual([before, pushes]);
  });

  const editorOf = (requestId: string) =>
    open(`#/push?id=${requestId}&fix=1&${RANGE}`, '#fix-body');
  const written = (externalId: string, title: string) => () =>
    JSON.stringify({ matterType: 'TODO', externalId, title });

  test.each([
    ['of a matter', 'EDIT-1', () => upsert('EDIT-1', { title: '' })],
    ['that names no matter', 'JSON-1', () => service().push('upsert', '{"title":"Approve",}')],
  ])(
    'a push %s that another tab fixed while its form was open overwrites that only after a confirmation',
    async (_, externalId, fail) => {
      const { requestId } = await fail();
      const [a, b] = [await editorOf(requestId), await editorOf(requestId)];
      await fixPush(b, written(externalId, 'by b'));
      const pushes = await pushesOf(externalId.slice(0, 4));
      await askToResend(a, written(externalId, 'by a'));
      await shows(a, 'This failure is already resolved', '.fix [role="alert"]');
      const titles = async () => (await ledgerOf(externalId.slice(0, 4))).map((it) => it.title);
      expect([await titles(), await pushesOf(externalId.slice(0, 4))]).toEqual([['by b'], pushes]);
      await press(a, '.fix [role="alert"] button');
      await shows(a, 'Resent. The ledger has the new data.', '.fix');
      expect(await titles()).toEqual(['by a']);
    },
  );

  test('a push of a matter with other failures leads to all of them before it is sent', async () => {
    const { requestId } = await upsert('ORDER-1', { title: '' });
    await service().push('status', { externalId: 'ORDER-1', bizStatus: 'DONE' });
    const page = await editorOf(requestId);
    await askToResend(page, written('ORDER-1', 'Good'));
    await shows(page, '1 other pushes of this matter have failed too', '.fix [role="alert"]');
    const [href = ''] = await page.$$eval('.fix [role="alert"] a', (all) =>
      all.map((it) => it.getAttribute('href') ?? ''),
    );
    const group = await open(href, '.group .table');
    await shows(group, 'ORDER-1', '.group .table');
    expect(await ledgerOf('ORDER')).toEqual([]);
    await press(page, '.fix [role="alert"] button');
    await shows(page, 'Resent. The ledger has the new data.', '.fix');
    expect(await ledgerOf('ORDER')).toMatchObject([{ title: 'Good', bizStatus: 'PENDING' }]);
  });

  test('a preview says which matters have no body any more, and the others are resent', async () => {
    const answers = [];
    for (let n = 0; n < 3; n += 1) {
      answers.push(await upsert(`GONE-${n}`, { mobileUrl: 'no such' }));
    }
    // As PUSH_BODY_RETENTION takes them away: before their entries.
    await bodyModel(service().db).deleteOne({ _id: answers[0]?.requestId });
    const page = await selected('mobileUrl');
    await plan(page, 'https://c.test/');
    await shows(page, '2 pushes of 2 matters will be resent', '.work');
    expect(await textOf(page, '.plan .bodyless')).toBe(
      '1 no longer have a stored body: push them from the source system',
    );
    await press(page, '#send');
    await shows(page, 'Done: 2 resent, 0 failed.', '.work');
    expect((await ledgerOf('GONE')).map(({ externalId }) => externalId)).toEqual([
      ...['GONE-1', 'GONE-2'],
    ]);
    await shows(page, 'no longer have a stored body', '.group .table');
  });

  test('a key without bodies shows a matter and its push, and none of their texts', async () => {
    const { requestId } = await upsert('BLIND', { content: 'Approve this' });
    const blind = await makeConsoleKey(service(), '--no-bodies');
    const page = await open('#/matters?lang=en', '.matters', blind);
    await shows(page, 'BLIND', '.matters');
    await shows(page, 'without titles and bodies', '.who');
    expect(await textOf(page, 'body')).not.toContain('Approve');
    for (const [fragment, seen] of [
      ['#/matter?externalId=BLIND&lang=en', '.matter .card'],
      [`#/push?id=${requestId}&lang=en`, '.push'],
    ] as const) {
      await goTo(page, fragment, seen);
      await shows(page, 'This key has no access to titles, contents, payloads and bodies.', seen);
      expect(await textOf(page, 'body')).not.toContain('Approve');
    }
    const { requestId: failed } = await upsert('BLIND-1', { title: ' ' });
    const bodies: string[] = [];
    page.on('request', (request) => void bodies.push(request.postData() ?? ''));
    for (const [fragment, seen] of [
      [`#/failures?reason=VALIDATION_FAILED&field=title&${RANGE}`, '.group'],
      [`#/push?id=${failed}&fix=1&lang=en`, '.fix'],
    ] as const) {
      await goTo(page, fragment, seen);
      await shows(page, 'This key has no access to titles, contents, payloads and bodies.', seen);
    }
    expect(bodies.filter((body) => body.includes('includeBody'))).toEqual([]);
    await goTo(page, '#/setup?lang=en', '.secrets');
    await shows(page, 'Query key without bodies', '.secrets');
  });

  return undefined;
});
