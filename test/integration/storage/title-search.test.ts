/** `titleContains` of `matters/query`: a bounded page of a large ledger, and the way to its oldest matter. */
import { randomBytes } from 'node:crypto';
import type { ChangesPage } from '../../../src/protocol/matter-answers';
import { untilKnown } from '../../support/known-client';
import { seedLedger } from '../../support/ledger-seed';
import { introduce, type SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

const START = Date.UTC(2024, 0, 1);
const MATTERS = 12_000;
/** The documents that a page examines. */
const EXAMINED = 5_000;
const systemCode = `TITLES-${randomBytes(4).toString('hex')}`;

let service: SharedService;
let signer: { clientId: string; secret: string };
beforeAll(async () => {
  service = await sharedService();
  const clientId = systemCode.toLowerCase();
  signer = { clientId, ...(await introduce(service.db, clientId, systemCode)) };
  await untilKnown({ url: service.urlOf(), ...signer });
  await seedLedger(service.db, MATTERS, (n) => ({
    systemCode,
    externalId: `T-${n}`,
    updatedAt: START + n * 1_000,
    phase: n < 20 ? 'DRAFT' : 'OPEN',
    title: n % 4_000 === 3 ? `采购 Laptop [${n}] für ÄMTER` : `laptop ${n}`,
  }));
});
afterAll(() => service.stop());

/** All pages; once more where one of them ended because a busy machine had used up its time. */
const pagesOf = (body: object) =>
  until('pages that did not end before their time', async () => {
    const pages = await readPages(body);
    const isFull = ({ examined = 0 }: ChangesPage) => examined >= EXAMINED;
    return pages.slice(0, -1).every(isFull) && pages;
  });

async function readPages(body: object): Promise<ChangesPage[]> {
  const pages: ChangesPage[] = [];
  let cursor: string | null = null;
  do {
    const answer = await service.push('query', { newestFirst: true, ...body, cursor }, signer);
    expect(answer).toMatchObject({ status: 200, code: 0 });
    const page = answer.data as unknown as ChangesPage;
    pages.push(page);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return pages;
}
const idsOf = (page: ChangesPage) => page.matters.map(({ externalId }) => externalId);

test('each page examines a bounded number of matters, and the last one reaches the oldest matter', async () => {
  const pages = await pagesOf({ titleContains: '[ laptop 采购' });
  expect(pages.map(idsOf)).toEqual([['T-8003'], ['T-4003'], ['T-3']]);
  expect(pages.map(({ examined }) => examined)).toEqual([
    EXAMINED,
    EXAMINED,
    MATTERS - 2 * EXAMINED,
  ]);
});

test('a page can be empty without being the last one', async () => {
  const pages = await pagesOf({ titleContains: 'no such title' });
  expect(pages.map(idsOf)).toEqual([[], [], []]);
});

test('a full page ends at its last matter, and the next page begins there', async () => {
  const body = { titleContains: 'laptop', newestFirst: true, limit: 500 };
  const first = await service.push('query', body, signer);
  const page = first.data as unknown as ChangesPage;
  expect(page).toMatchObject({ examined: 500 });
  const next = await service.push('query', { ...body, cursor: page.nextCursor }, signer);
  expect(idsOf(next.data as unknown as ChangesPage)[0]).toBe(`T-${MATTERS - 501}`);
});

test.each([
  ['FÜR ämter', ['T-8003', 'T-4003', 'T-3']],
  ['[8003]', ['T-8003']],
  ['8003|4003', []],
  ['.*', []],
])('%j is literal and ignores case', async (titleContains, expected) => {
  expect((await pagesOf({ titleContains })).flatMap(idsOf)).toEqual(expected);
});

test('an index that selects few matters answers at once', async () => {
  const pages = await pagesOf({ titleContains: '采购', phase: 'DRAFT' });
  expect(pages.map(idsOf)).toEqual([['T-3']]);
});

test('a cursor is valid for its words only', async () => {
  const body = { titleContains: 'laptop', newestFirst: true, limit: 5 };
  const { data } = await service.push('query', body, signer);
  const cursor = (data as unknown as ChangesPage).nextCursor;
  const other = await service.push('query', { ...body, titleContains: 'phone', cursor }, signer);
  expect(other).toMatchObject({ code: 400, errors: [{ field: 'cursor' }] });
});
