/** `matters/query` as a search: filters, both orders, pages, and that no look goes through the ledger. */
import type { Matter, Party } from '../../../src/domain/matter';
import { nativeCollection } from '../../../src/infra/mongo';
import type { ChangesPage } from '../../../src/protocol/matter-answers';
import { matterModel } from '../../../src/storage/ledger/matters';
import {
  createSearchMatters,
  type MatterFilter,
  type SearchBounds,
} from '../../../src/storage/ledger/search-matters';
import { seedLedger } from '../../support/ledger-seed';
import { type Service, startService } from '../../support/service';

const START = Date.UTC(2024, 0, 1);
const MATTERS = 3_000;
const party = (username: string, partyRole: Party['partyRole'] = 'ASSIGNEE'): Party => ({
  ...{ username, partyRole, displayName: username, unread: true },
});

let service: Service;
let matters: Matter[];
beforeAll(async () => {
  service = await startService();
  matters = await seedLedger(service.db, MATTERS, (n) => ({
    externalId: `${n % 10 === 0 ? 'PR' : 'HD'}-${n}`,
    // Five of one instant; the first one of an instant is not the first one that was seeded.
    updatedAt: START + Math.floor(n / 5) * 1_000,
    matterType: n % 2 ? 'TODO' : 'NOTICE',
    phase: n % 100 === 0 ? 'DRAFT' : n % 3 === 0 ? 'CONCLUDED' : 'OPEN',
    bizStatus: n % 3 === 0 ? 'DONE' : 'PENDING',
    bizType: n % 4 === 0 ? 'leave' : null,
    title: n % 7 === 0 ? `Laptop (${n})` : 'approve',
    parties: [party('everybody'), ...(n % 500 === 7 ? [party('rare', 'CC'), party('rare')] : [])],
  }));
  const other = { systemCode: 'OTHER', parties: [party('rare')], phase: 'DRAFT' as const };
  await seedLedger(service.db, 5, (n) => ({ ...other, externalId: `PR-${n}`, updatedAt: START }));
});
afterAll(() => service.stop());

/** All pages of a question. */
async function all(body: object): Promise<{ ids: string[]; pages: ChangesPage[] }> {
  const pages: ChangesPage[] = [];
  let cursor: string | null = null;
  do {
    const answer = await service.push('query', { limit: 200, ...body, cursor });
    expect(answer).toMatchObject({ status: 200, code: 0 });
    const page = answer.data as unknown as ChangesPage;
    pages.push(page);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return { pages, ids: pages.flatMap((page) => page.matters.map(({ externalId }) => externalId)) };
}

type Passes = (matter: Matter, n: number) => boolean;
const FILTERS: [object, Passes][] = [
  [{ externalIdPrefix: 'PR-12' }, ({ externalId }) => externalId.startsWith('PR-12')],
  [{ externalIdPrefix: 'HD-2999' }, ({ externalId }) => externalId === 'HD-2999'],
  [{ externalIdPrefix: 'PR.' }, () => false],
  [{ matterType: 'NOTICE' }, ({ matterType }) => matterType === 'NOTICE'],
  [{ phase: 'DRAFT' }, ({ phase }) => phase === 'DRAFT'],
  [{ phase: 'DELETED' }, () => false],
  [{ bizStatus: 'DONE', bizType: 'leave' }, (_, n) => n % 3 === 0 && n % 4 === 0],
  [{ username: 'rare' }, (_, n) => n % 500 === 7],
  [{ username: 'everybody', phase: 'OPEN' }, ({ phase }) => phase === 'OPEN'],
  [{ username: 'rar' }, () => false],
  [
    { externalIdPrefix: 'HD', matterType: 'TODO', username: 'rare', updatedFrom: START + 200_000 },
    (_, n) => n % 500 === 7 && n >= 1_000,
  ],
  [{ titleContains: 'laptop' }, (_, n) => n % 7 === 0],
  [{ titleContains: ') LAP', phase: 'DRAFT' }, (_, n) => n % 700 === 0],
  [{ newestFirst: true, updatedTo: START + 10_000 }, (_, n) => n < 50],
];

describe.each([false, true])('newest first: %s', (newestFirst) => {
  test.each(FILTERS)('%j finds what passes, each once, in its order', async (body, passes) => {
    const expected = matters.filter(passes).map(({ externalId }) => externalId);
    const { ids } = await all({ ...body, newestFirst });
    expect(ids).toEqual(newestFirst ? expected.reverse() : expected);
  });
});

test('another order or filter does not take the cursor, and another system sees its own only', async () => {
  const { nextCursor: cursor } = (await all({ phase: 'OPEN' })).pages[0] as ChangesPage;
  for (const other of [{ phase: 'CONCLUDED' }, { phase: 'OPEN', newestFirst: true }, {}]) {
    const answer = await service.push('query', { ...other, cursor });
    expect(answer).toMatchObject({ code: 400, errors: [{ field: 'cursor' }] });
  }
  const { ids } = await all({ username: 'rare', phase: 'DRAFT' });
  expect(ids).toEqual([]);
});

test.each([
  [{ externalIdPrefix: '' }, 'externalIdPrefix'],
  [{ externalIdPrefix: 'x'.repeat(129) }, 'externalIdPrefix'],
  [{ externalIdPrefix: { $gt: '' } }, 'externalIdPrefix'],
  [{ matterType: 'TASK' }, 'matterType'],
  [{ phase: 'open' }, 'phase'],
  [{ bizStatus: 'in progress' }, 'bizStatus'],
  [{ username: ['a'] }, 'username'],
  [{ titleContains: ' ' }, 'titleContains'],
  [{ titleContains: { $regex: '.' } }, 'titleContains'],
  [{ newestFirst: 1 }, 'newestFirst'],
])('%j is told to be wrong', async (body, field) => {
  const answer = await service.push('query', body);
  expect(answer).toMatchObject({ code: 400, errors: [{ field }] });
});

/** What the database did for a search, by its own account. */
async function profiled(filter: MatterFilter, bounds: SearchBounds, newestFirst: boolean) {
  const collection = nativeCollection(matterModel(service.db));
  const db = service.db.getClient().db(service.db.name);
  await db.command({ profile: 2 });
  const options = { limit: 50, newestFirst, from: START, to: START + 1e9 };
  const found = await createSearchMatters(collection, bounds)('TEST', filter, options);
  await db.command({ profile: 0 });
  // No more of them: the profiler cuts long texts, in the middle of a letter.
  const projection = { planSummary: 1, keysExamined: 1, hasSortStage: 1, 'command.hint': 1 };
  const log = db.collection('system.profile');
  const commands = await log
    .find({ ns: /\.matters$/, 'command.listIndexes': { $exists: false } }, { projection })
    .toArray();
  await log.drop();
  return { found, commands };
}

const BOUNDS = { maxFew: 100, maxChecked: 700 };
const LOOKS: [MatterFilter, ...string[]][] = [
  [{ externalIdPrefix: 'PR-12' }, 'key'],
  [{ externalIdPrefix: 'HD' }, 'key', 'updates'],
  [{ username: 'rare' }, 'party_lists'],
  [{ username: 'everybody' }, 'party_lists', 'updates'],
  [{ phase: 'DRAFT' }, 'open_list'],
  [{ phase: 'OPEN', bizStatus: 'NONE' }, 'open_list', 'updates'],
  [{ matterType: 'REMIND' }, 'updates'],
  [{ titleContains: 'no such title' }, 'updates'],
  [{ titleContains: 'laptop', username: 'rare' }, 'party_lists'],
  [{ bizType: 'none', externalIdPrefix: 'HD', username: 'rare' }, 'key', 'party_lists'],
  [{}, 'updates'],
];

describe.each([false, true])('newest first: %s', (newestFirst) => {
  test.each(LOOKS)('%j is answered along indexes, by a bounded look', async (filter, ...names) => {
    const { found, commands } = await profiled(filter, BOUNDS, newestFirst);
    const plans = commands.map(({ planSummary }) => String(planSummary));
    expect(plans.length).toBeGreaterThan(0);
    expect(plans.filter((plan) => !/^IXSCAN|^IDHACK|^EOF/.test(plan))).toEqual([]);
    const hints = commands.map(({ command }) => String(command.hint));
    expect([...new Set(hints)].filter((hint) => hint !== '_id_')).toEqual(names);
    const keys = commands.reduce((sum, { keysExamined }) => sum + Number(keysExamined), 0);
    const looksAlong = names.includes('updates') ? 2 * BOUNDS.maxChecked : 0;
    // Of each index that was tried one more than a few, and the few by their ids; seeks count as keys.
    expect(keys).toBeLessThanOrEqual(1.3 * (2 * names.length * (BOUNDS.maxFew + 1) + looksAlong));
    expect(commands.every(({ hasSortStage }) => !hasSortStage)).toBe(true);
    if (names.includes('updates') && found.positions.length < 50) {
      expect(found.next).toBeDefined();
    }
  });
});
