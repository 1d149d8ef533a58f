/**
 * The console's pushes, one push, and the frame around them, in a browser: what somebody sees of pushes of
 * which it is known what became of each.
 */

import pino from 'pino';
import type { Page } from 'puppeteer-core';
import { hourAt } from '../../src/protocol/local-day';
import { sign } from '../../src/protocol/signature';
import { formatLocal } from '../../src/protocol/time';
import { createPushCounts } from '../../src/storage/push-log/counts';
import { fillIn, goTo, press, shows, textOf } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { zoneFarFromMidnight } from '../support/midnight';
import { whileNotTakenUp } from '../support/planted-day';
import { todo } from '../support/push-bodies';
import type { Answer } from '../support/pusher';
import type { Service } from '../support/service';
import { until } from '../support/wait';

const ZONE = zoneFarFromMidnight();
/** Of a day, whatever the hour in which the test runs. */
const RANGE = 'range=week&lang=en';
const NOT_RECORDED = 7;
/** As its caller wrote it, which nobody would write so twice. */
const RAW = '{"matterType":"TODO",  "externalId":"W-1","title":"newer",\n"bizStatus":"PROCESSING"}';
const COMPACT = JSON.stringify({ matterType: 'TODO', externalId: 'S-1', title: 'signed' });
const PRETTY = JSON.stringify(JSON.parse(COMPACT), null, 2);

/** The answers to the pushes, by what is special about each. */
type Planted = Record<'created' | 'replayed' | 'updated' | 'stale' | 'forged' | 'late', Answer>;

async function plant(service: Service): Promise<Planted> {
  const { push, clientId, secret } = service;
  const upsert = (externalId: string, more: object = {}, idempotencyKey = '') =>
    push(
      ...(['upsert', todo(externalId, { title: 'old', ...more })] as const),
      idempotencyKey ? { idempotencyKey } : {},
    );
  const sourceUpdatedAt = Date.now();
  const created = await upsert('W-1', { sourceUpdatedAt }, 'key/W-1');
  const replayed = await upsert('W-1', { sourceUpdatedAt }, 'key/W-1');
  const updated = await push('upsert', RAW);
  const stale = await upsert('W-1', { sourceUpdatedAt: sourceUpdatedAt - 60_000 });
  await upsert('F-1', { title: '' });
  await upsert('F-1');
  await upsert('F-2', { title: '' });
  await push('status', { externalId: 'NONE', bizStatus: 'DONE' });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = sign(secret, clientId, timestamp, Buffer.from(PRETTY));
  const forged = await push('upsert', COMPACT, {
    ...{ timestamp, headers: { 'X-Signature': signature } },
  });
  const late = await whileNotTakenUp(service, (url) =>
    push('upsert', todo('LATE', { title: 'old' }), { url }),
  );
  await plantCounts(service);
  return { created, replayed, updated, stale, forged, late };
}

/** Refusals of a crowd, as the service counts those that it does not record. */
async function plantCounts({ db, clientId }: Service): Promise<void> {
  const logger = pino({ level: 'silent' });
  const counts = createPushCounts(db, { logger, hourOf: (at) => hourAt(at, ZONE) });
  const push = { clientId, systemCode: 'TEST', operation: 'upsert', receivedAt: Date.now() };
  counts.unrecorded({ ...push, result: 'BACKLOG_FULL' }, NOT_RECORDED);
  await counts.stop();
}

/** Matter and result of each row that is shown, the newest first. */
const rowsIn = (page: Page) =>
  page.$$eval('.pushes .table .space .row', (all) =>
    all.map((row) =>
      ['matter', 'result'].map((name) => row.querySelector(`.cell.${name}`)?.textContent).join(' '),
    ),
  );
/** Waits until they are these. */
const showsRows = (page: Page, rows: readonly string[]) =>
  until(`the rows ${rows}`, async () => String(await rowsIn(page)) === String(rows)).catch(
    async () => expect(await rowsIn(page)).toEqual(rows),
  );
const addressOf = (page: Page): Promise<string> =>
  page.evaluate('location.href') as Promise<string>;

inConsole('pushes in a browser', { env: { PORTAL_TIME_ZONE: ZONE } }, ({ service, key, open }) => {
  let planted: Planted;
  const pushes = (query = '') => open(`#/pushes?${RANGE}${query}`, '.pushes .table');
  const pushOf = (name: keyof Planted) =>
    open(`#/push?id=${planted[name].requestId}&${RANGE}`, '.push .facts');

  describe('the pushes', () => {
    const FAILED = ['LATE Not confirmed in time', '– Wrong signature'];
    const FAULTS = ['NONE Matter not found', 'F-2 Invalid fields', 'F-1 Invalid fields'];
    const WRITTEN = ['F-1 Created', 'W-1 Outdated, ignored', 'W-1 Updated', 'W-1 Created'];
    const VIEWS: [view: string, rows: string[]][] = [
      ['Failed', [...FAILED, ...FAULTS]],
      ['Unresolved', [...FAILED, ...FAULTS.slice(0, 2)]],
      ['Timed out', FAILED.slice(0, 1)],
      ['Outdated', WRITTEN.slice(1, 2)],
      ['Repeated', WRITTEN.slice(3)],
      ['Rejected signature', FAILED.slice(1)],
      [
        'All',
        [...FAILED, ...FAULTS.slice(0, 2), ...WRITTEN.slice(0, 1), ...FAULTS.slice(2)].concat(
          ...[WRITTEN.slice(1), WRITTEN.slice(3)],
        ),
      ],
    ];

    test('each saved view shows its pushes, and how many they are', async () => {
      const page = await pushes();
      for (const [view, rows] of VIEWS) {
        await page.$$eval(
          '.views button',
          (all, name) =>
            (all as unknown as { textContent: string; click(): void }[])
              .find((it) => it.textContent === name)
              ?.click(),
          view,
        );
        await showsRows(page, rows);
        await shows(page, `Pushes: ${rows.length}`, '.pushes');
        expect(await textOf(page, '.views [aria-pressed="true"]')).toBe(view);
      }
    });

    test('filters narrow a view; both stand in the address, and are there again after a reload', async () => {
      const page = await pushes();
      await page.select('.filters label:nth-of-type(1) select', 'status');
      await showsRows(page, FAULTS.slice(0, 1));
      await page.select('.filters label:nth-of-type(1) select', '');
      await page.select('.filters label:nth-of-type(2) select', 'VALIDATION_FAILED');
      await showsRows(page, FAULTS.slice(1));
      await goTo(page, `#/pushes?${RANGE}&view=failed&operation=status`, '.pushes .table');
      await showsRows(page, FAULTS.slice(0, 1));
      await page.reload({ waitUntil: 'domcontentloaded' });
      await page.waitForSelector('.pushes .table');
      await showsRows(page, FAULTS.slice(0, 1));
      expect(await textOf(page, '.views [aria-pressed="true"]')).toBe('Failed');
      // Within a view that is of some reasons, these alone are there to choose from.
      await goTo(page, `#/pushes?${RANGE}&view=refused`, '.filters label:nth-of-type(2) select');
      await showsRows(page, FAILED.slice(1));
      const choices = await page.$$('.filters label:nth-of-type(2) option');
      expect(choices).toHaveLength(1 + 4);
      await page.select('.filters label:nth-of-type(2) select', 'SIGNATURE_REUSED');
      await shows(page, 'No pushes match.', '.pushes');
      await page.select('.filters label:nth-of-type(2) select', 'SIGNATURE_MISMATCH');
      await showsRows(page, FAILED.slice(1));
      expect(await addressOf(page)).not.toContain(key().key);
    });

    test('refusals that were counted and not recorded are told, where they belong to what is shown', async () => {
      const told = `${NOT_RECORDED} other pushes were rejected. The log counts them without an entry for each.`;
      const page = await pushes();
      await shows(page, told, '.pushes .note');
      for (const [query, isTold] of [
        ['&operation=status', false],
        ['&view=failed', true],
        ['&view=stale', false],
      ] as const) {
        await goTo(page, `#/pushes?${RANGE}${query}`, '.pushes .table');
        const rows = isTold ? [...FAILED, ...FAULTS] : undefined;
        if (rows) await showsRows(page, rows);
        else await shows(page, 'Pushes: 1', '.pushes');
        expect([query, (await page.$('.pushes .note')) !== null]).toEqual([query, isTold]);
      }
    });

    test('live, a push is there as it comes', async () => {
      const page = await pushes('&view=stale');
      await showsRows(page, WRITTEN.slice(1, 2));
      await press(page, '.filters input[type="checkbox"]');
      await until('the address', async () => (await addressOf(page)).includes('live=on'));
      await service().push('upsert', {
        ...{ matterType: 'TODO', externalId: 'W-1', title: 'late', sourceUpdatedAt: 1_000 },
      });
      await showsRows(page, ['W-1 Outdated, ignored', 'W-1 Outdated, ignored']);
    });
  });

  describe('one push', () => {
    test('its way is told in time, what its caller was told, what it changed, and the ones beside it', async () => {
      const page = await pushOf('updated');
      const stages = await page.$$eval('.timeline li', (all) =>
        all.map((it) => [
          it.querySelector('.name')?.textContent,
          it.querySelector('.took')?.textContent ?? '',
          Number.parseFloat(
            it.querySelector('.bar')?.getAttribute('style')?.split('width:')[1] ?? '',
          ),
        ]),
      );
      expect(stages.map(([name]) => name)).toEqual(['Checked', 'Waited', 'Written']);
      for (const [, took, width] of stages) {
        expect(took).toMatch(/^[\d.]+ m?s$/);
        expect(width).toBeGreaterThan(0);
        expect(width).toBeLessThanOrEqual(100);
      }
      const cards = await page.$$eval('.push .card', (all) => all.map((it) => it.textContent));
      const shown = cards.join('\n');
      expect(shown).toContain('Answer to the callerUPDATED – Updated');
      expect(shown).toMatch(/Changes.*Status Pending → In progress.*Title/);
      await page.waitForSelector('.others li');
      const others = await page.$$eval('.others li', (all) =>
        all.map((it) => [it.className, it.querySelector('a')?.getAttribute('href') ?? '']),
      );
      for (const name of ['created', 'replayed', 'stale'] as const) {
        expect(others).toContainEqual([
          name === 'stale' ? 'even' : 'good',
          expect.stringContaining(planted[name].requestId),
        ]);
      }
      expect(String(others)).not.toContain(planted.updated.requestId);
    });

    test('its body is shown in lines and as it was sent, and copied as a command without the key', async () => {
      const page = await pushOf('updated');
      const body = '.push pre[aria-label="Body"]';
      expect(await textOf(page, body)).toBe(JSON.stringify(JSON.parse(RAW), null, 2));
      await page.$$eval('.push .buttons button', (all) =>
        (all as unknown as { textContent: string; click(): void }[])
          .find((it) => it.textContent === 'Original')
          ?.click(),
      );
      await until('the body as it was sent', async () => (await textOf(page, body)) === RAW);
      await page.evaluate(`document.execCommand = () => {
          document.body.dataset.copied = document.activeElement.value;
        }`);
      await page.$$eval('.push button.copy', (all) =>
        (all as unknown as { click(): void }[])[1]?.click(),
      );
      const copied = await page.$eval('body', (it) => it.getAttribute('data-copied') ?? '');
      expect(copied).toContain(`body='${RAW}'`);
      expect(copied).toMatch(/curl -sS 'http:\/\/portal\.test:\d+\/api\/open\/matters\/upsert'/);
      expect(copied).toContain('$SECRET');
      for (const secret of [key().key, service().secret]) expect(copied).not.toContain(secret);
    });

    test('of a wrong signature what was sent and what was signed stand side by side', async () => {
      const page = await pushOf('forged');
      // A busy machine does not get to the end of a diagnosis each time.
      await until('the whole diagnosis', async () => {
        if (await page.$('.beside')) return true;
        await page.reload({ waitUntil: 'domcontentloaded' });
        await page.waitForSelector('.push .facts');
        return false;
      });
      const [sent = '', signed = ''] = await page.$$eval('.beside pre', (all) =>
        all.map((it) => it.textContent ?? ''),
      );
      expect(await page.$$eval('.beside h3', (all) => all.map((it) => it.textContent))).toEqual([
        ...['Sent', 'Signed'],
      ]);
      // As texts of JSON, in which nothing is invisible.
      expect(sent).toContain(String.raw`{\"matterType\":`);
      expect(signed).toContain(String.raw`{\n  \"matterType\":`);
      const tops = await page.$$eval('.beside > div', (all) =>
        all.map((it) => (it as unknown as { offsetTop: number }).offsetTop),
      );
      expect(new Set(tops).size).toBe(1);
      expect(await textOf(page, '.push .verdict')).toContain('Wrong signature');
    });
  });

  describe('the frame', () => {
    test('tells who asks, what the key is good for and until when, and that the service is ready', async () => {
      const page = await pushes();
      const who = await textOf(page, '.who');
      expect(who).toContain('SystemTESTClient IDtesterAccessread and pushKey expires on');
      await shows(page, 'Service ready', '.light.good');
      expect(await textOf(page, '.range')).toContain(ZONE);
    });

    test('a range is picked, also from–to in the time zone of the portal, and goes along from screen to screen', async () => {
      const page = await pushes();
      const pressed = async (at: number, name: string) => {
        await press(page, `.range button:nth-of-type(${at})`);
        await shows(page, name, '.range [aria-pressed="true"]');
      };
      await pressed(2, 'Yesterday');
      await shows(page, 'No pushes match.', '.pushes');
      expect(await addressOf(page)).toContain('range=yesterday');
      await pressed(4, 'Custom');
      // The browser's own zone is another one: there this would be hours ahead.
      const local = (minutes: number) =>
        formatLocal(Date.now() + minutes * 60_000, ZONE).slice(0, 16);
      const ofNow = [local(-20), local(10)] as const;
      await fillIn(page, '.range label:nth-of-type(1) input', ofNow[0]);
      await fillIn(page, '.range label:nth-of-type(2) input', ofNow[1]);
      await shows(page, 'W-1', '.pushes .table');
      expect(new URLSearchParams((await addressOf(page)).split('?')[1])).toEqual(
        new URLSearchParams({ range: 'custom', lang: 'en', from: ofNow[0], to: ofNow[1] }),
      );
      await fillIn(page, '.range label:nth-of-type(2) input', local(-19));
      await shows(page, 'No pushes match.', '.pushes');
      const links = await page.$$eval('nav a', (all) => all.map((it) => it.getAttribute('href')));
      expect(links.length).toBeGreaterThan(4);
      for (const link of links) expect(link).toContain(`from=${encodeURIComponent(ofNow[0])}`);
    });

    test('one box finds a request id, an external id and an idempotency key', async () => {
      const page = await pushes('&view=late');
      const find = async (text: string) => {
        await fillIn(page, '#search', text);
        await press(page, 'form[role="search"] button');
      };
      await find(` ${planted.updated.requestId.toUpperCase()} `);
      await page.waitForSelector('.push .facts');
      expect(await textOf(page, '.push .verdict')).toContain('Updated');
      expect(await addressOf(page)).toContain(`id=${planted.updated.requestId}`);
      await find('F-1');
      await showsRows(page, ['F-1 Created', 'F-1 Invalid fields']);
      expect(await addressOf(page)).toContain('q=F-1');
      await find('key/W-1');
      await showsRows(page, ['W-1 Created', 'W-1 Created']);
      expect(await addressOf(page)).not.toContain(key().key);
      // An id of the source system may look like that of a request.
      const externalId = '65F0A1B2C3D4E5F601234567';
      await service().push('upsert', { matterType: 'TODO', externalId, title: 'hex' });
      await find(externalId);
      await showsRows(page, [`${externalId} Created`]);
      await page.evaluate('history.back()');
      await showsRows(page, ['W-1 Created', 'W-1 Created']);
    });
  });

  return async (started) => {
    planted = await plant(started);
  };
});
