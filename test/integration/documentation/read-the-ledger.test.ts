/**
 * docs/read-the-ledger.md: its blocks run as they stand, against a ledger that the service wrote. Each list has the
 * matters and the order of a plain computation, and each query uses its index.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { mongo } from 'mongoose';
import type { MatterRecord } from '../../../src/storage/ledger/matters';
import { pushLine } from '../../support/push-bodies';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

type Stored = MatterRecord & { _id: bigint };
type Filter = mongo.Filter<Stored>;
type Key = { readonly updatedAt: Date; readonly shown: readonly bigint[] } | null;
type OnChange = (matterId: bigint, matter: Stored | null) => Promise<void>;

/** What the blocks of the page define. */
interface Page {
  readonly client: mongo.MongoClient;
  readonly matters: mongo.Collection<Stored>;
  readonly toDos: (username: string) => Filter;
  readonly done: (username: string) => Filter;
  readonly copied: (username: string) => Filter;
  readonly notices: (username: string) => Filter;
  readonly drafts: (username: string) => Filter;
  readonly unreadToDos: (username: string) => Filter;
  readonly countUnread: (username: string) => Promise<number>;
  readonly pageQuery: (filter: Filter, after: Key, size: number) => mongo.FindCursor<Stored>;
  readonly readPage: (
    filter: Filter,
    after: Key,
    size: number,
  ) => Promise<{ page: Stored[]; next: Key }>;
  readonly openChanges: (token: unknown) => mongo.ChangeStream;
  readonly followChanges: (
    stream: mongo.ChangeStream,
    onChange: OnChange,
    storeToken: (token: unknown) => Promise<void>,
  ) => Promise<void>;
  readonly markRead: (matterId: bigint, username: string) => Promise<mongo.UpdateResult>;
  readonly deleteDraft: (
    matterId: bigint,
    username: string,
    revision: number,
  ) => Promise<mongo.DeleteResult>;
}

const ROOT = join(__dirname, '../../..');
const TEXT = readFileSync(join(ROOT, 'docs/read-the-ledger.md'), 'utf8');
const BLOCKS = [...TEXT.matchAll(/```js\n([\s\S]*?)```/g)].map(([, block = '']) => block);

/** Runs the blocks of the page one after the other, and returns what they define. */
async function runPage(mongoUrl: string): Promise<Page> {
  const names = BLOCKS.flatMap((block) =>
    [...block.matchAll(/^(?:const|async function) (\w+)/gm)].map(([, name]) => name),
  );
  const body = `${BLOCKS.join('\n')}\nreturn { ${names.join(', ')} };`;
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor;
  const run = new AsyncFunction('require', 'process', body);
  return run(createRequire(join(ROOT, 'package.json')), { env: { MONGO_URL: mongoUrl } });
}

const USERS = ['alice', 'bob', 'carol', 'dave'] as const;
const MATTERS = 3_000;
const LINES = 900;

type User = (typeof USERS)[number];
const userOf = (n: number, step = 0): User => USERS[(n + step) % USERS.length] as User;
const party = (username: string, partyRole: string) => ({ username, partyRole });
const passOn = (externalId: string, to: string) =>
  pushLine('upsert', {
    ...{ matterType: 'TODO', externalId, title: 'passed on', replaceParties: true },
    parties: [party(to, 'ASSIGNEE')],
  });

/** The lists in which matter `n` is, by user. */
type Expected = Readonly<Partial<Record<ListName, readonly string[]>>>;
type ListName = 'toDos' | 'done' | 'copied' | 'notices' | 'drafts';

/** The kinds of matters: their pushes, and the lists of their users. */
const KINDS: readonly ((n: number, externalId: string) => { lines: string[]; in: Expected })[] = [
  (n, externalId) => ({
    lines: [
      pushLine('upsert', {
        ...{ matterType: 'TODO', externalId, title: 'open', priority: 'URGENT' },
        parties: [party(userOf(n), 'ASSIGNEE'), party(userOf(n, 1), 'CC')],
      }),
    ],
    in: { toDos: [userOf(n)], copied: [userOf(n, 1)] },
  }),
  (n, externalId) => ({
    lines: [
      pushLine('upsert', {
        ...{ matterType: 'TODO', externalId, title: 'concluded' },
        parties: [party(userOf(n), 'ASSIGNEE'), party(userOf(n), 'CC')],
      }),
      pushLine('status', { externalId, bizStatus: 'DONE' }),
    ],
    in: { done: [userOf(n)], copied: [userOf(n)] },
  }),
  (n, externalId) => ({
    lines: [passOn(externalId, userOf(n)), passOn(externalId, userOf(n, 1))],
    in: { done: [userOf(n)], toDos: [userOf(n, 1)] },
  }),
  (n, externalId) => ({
    lines: [
      pushLine('upsert', {
        ...{ matterType: 'NOTICE', externalId, title: 'notice', bizStatus: 'NEWS' },
        parties: [party(userOf(n), 'RECIPIENT'), party(userOf(n, 2), 'RECIPIENT')],
      }),
    ],
    in: { notices: [userOf(n), userOf(n, 2)] },
  }),
  (n, externalId) => ({
    lines: [
      pushLine('upsert', {
        ...{ matterType: 'TODO', externalId, title: 'draft', bizStatus: 'DRAFT' },
        ...{ initiatorUsername: userOf(n), parties: [party(userOf(n, 1), 'ASSIGNEE')] },
      }),
    ],
    in: { drafts: [userOf(n)] },
  }),
  (n, externalId) => ({
    lines: [
      passOn(externalId, userOf(n)),
      passOn(externalId, userOf(n, 1)),
      pushLine('delete', { externalId }),
    ],
    in: {},
  }),
  (n, externalId) => ({
    lines: [
      passOn(externalId, userOf(n)),
      passOn(externalId, userOf(n, 1)),
      passOn(externalId, userOf(n)),
      pushLine('status', { externalId, bizStatus: 'CLOSED' }),
    ],
    in: { done: [userOf(n, 1), userOf(n)] },
  }),
];

const PUSHED = Array.from({ length: MATTERS }, (_, n) => {
  const externalId = `L-${n}`;
  return { externalId, ...(KINDS[n % KINDS.length] as (typeof KINDS)[number])(n, externalId) };
});

let service: SharedService;
let ledger: Page;
/** All matters, newest change first. */
let stored: Stored[];

beforeAll(async () => {
  service = await sharedService();
  const lines = PUSHED.flatMap((matter) => matter.lines);
  for (let at = 0; at < lines.length; at += LINES) {
    const body = lines.slice(at, at + LINES).join('\n');
    const answer = await service.push('batch', body);
    expect(answer).toMatchObject({ code: 0 });
  }
  ledger = await runPage(String(service.env.MONGO_URL));
  stored = await ledger.matters.find().toArray();
  stored.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime());
});
afterAll(async () => {
  await ledger?.client.close();
  await service.stop();
});

const idsOf = (matters: readonly Stored[]) => matters.map(({ externalId }) => externalId);
const times = (matters: readonly Stored[]) => matters.map(({ updatedAt }) => updatedAt.getTime());

async function readAll(filter: Filter, size: number): Promise<Stored[]> {
  const pages: Stored[][] = [];
  for (let after: Key = null; ; ) {
    const { page, next } = await ledger.readPage(filter, after, size);
    pages.push(page);
    if (pages.length > 200) throw new Error('the pages do not end');
    if (next === null) return pages.flat();
    after = next;
  }
}

interface Plan {
  readonly stage: string;
  readonly indexName?: string;
  readonly inputStage?: Plan;
  readonly inputStages?: readonly Plan[];
}

const stagesOf = (plan: Plan): Plan[] => [
  plan,
  ...[...(plan.inputStage ? [plan.inputStage] : []), ...(plan.inputStages ?? [])].flatMap(stagesOf),
];

/** Expects only these indexes, no scan of the collection and no sort in memory. */
async function expectIndexes(cursor: mongo.FindCursor<Stored>, indexes: readonly string[]) {
  const { queryPlanner, executionStats } = (await cursor.explain('executionStats')) as {
    queryPlanner: { winningPlan: Plan };
    executionStats: { totalDocsExamined: number };
  };
  const stages = stagesOf(queryPlanner.winningPlan);
  const names = stages.map(({ stage }) => stage);
  expect(names).not.toContain('COLLSCAN');
  expect(names).not.toContain('SORT');
  const used = stages.flatMap(({ indexName }) => (indexName ? [indexName] : []));
  expect([...new Set(used)].sort()).toEqual([...indexes].sort());
  return executionStats.totalDocsExamined;
}

test('the ledger has matters of every kind, many of one instant', () => {
  expect(stored).toHaveLength(MATTERS);
  expect(new Set(times(stored)).size).toBeLessThan(MATTERS / 4);
  const [urgent] = stored.filter(({ priority }) => priority === 'URGENT');
  expect(urgent).toMatchObject({ priorityRank: 3, phase: 'OPEN', _id: expect.any(BigInt) });
});

const LISTS: readonly (readonly [ListName, readonly string[]])[] = [
  ['toDos', ['party_lists']],
  ['done', ['party_lists', 'past_handlers']],
  ['copied', ['party_lists']],
  ['notices', ['party_lists']],
  ['drafts', ['drafts']],
];

describe.each(LISTS)('the list %s', (list, indexes) => {
  test.each(USERS)('has all matters of %s in their order, each on one page', async (user) => {
    const expected = PUSHED.filter((matter) => matter.in[list]?.includes(user));
    expect(expected.length).toBeGreaterThan(100);
    const found = await readAll(ledger[list](user), 37);
    expect(idsOf(found).sort()).toEqual(idsOf(expected as unknown as Stored[]).sort());
    const ids = new Set(idsOf(found));
    const sorted = stored.filter(({ externalId }) => ids.has(externalId));
    expect(times(found)).toEqual(times(sorted));
  });

  test('reads its index in the order of the list, also for a later page', async () => {
    const size = 20;
    const { next } = await ledger.readPage(ledger[list]('alice'), null, size);
    for (const after of [null, next]) {
      const most = size + (after?.shown.length ?? 0);
      const examined = await expectIndexes(
        ledger.pageQuery(ledger[list]('alice'), after, size),
        indexes,
      );
      // The second index of "done" and the phases beside the asked ones are read a little ahead.
      expect(examined).toBeLessThan(3 * most);
    }
  });
});

test('the check of plans notices a scan and a sort in memory', async () => {
  const { matters, toDos } = ledger;
  await expect(expectIndexes(matters.find({ title: 'open' }), [])).rejects.toThrow('COLLSCAN');
  const sorted = matters.find(toDos('alice')).sort({ createdAt: -1 });
  await expect(expectIndexes(sorted, ['party_lists'])).rejects.toThrow('SORT');
});

test('the unread count falls when a user reads, and no push undoes it', async () => {
  await expectIndexes(ledger.matters.find(ledger.unreadToDos('bob')).limit(100), ['party_lists']);
  const toDos = await readAll(ledger.toDos('bob'), 500);
  for (const { _id } of toDos.slice(3)) await ledger.markRead(_id, 'bob');
  expect(await ledger.countUnread('bob')).toBe(3);
  const { _id, externalId, revision } = toDos.at(-1) as Stored;
  const again = await ledger.markRead(_id, 'bob');
  expect(again.matchedCount).toBe(0);
  await service.push('upsert', { matterType: 'TODO', externalId, title: 'new title' });
  expect(await ledger.countUnread('bob')).toBe(3);
  expect(await ledger.matters.findOne({ _id })).toMatchObject({ revision: revision + 2 });
  await service.push('reopen', { externalId });
  expect(await ledger.countUnread('bob')).toBe(4);
});

test('the changes continue after the last stored token, and repeat the one that failed', async () => {
  const seen: string[] = [];
  let token: unknown = null;
  const storeToken = async (stored: unknown) => {
    token = stored;
  };
  const titled = (title: string) =>
    service.push('upsert', { matterType: 'TODO', externalId: 'L-0', title });
  /** Follows until the change with this title, which is not stored. */
  const followTo = async (title: string, stream: mongo.ChangeStream) => {
    const onChange: OnChange = async (_, matter) => {
      seen.push(String(matter?.title));
      if (matter?.title === title) throw new Error('stopped');
    };
    await expect(ledger.followChanges(stream, onChange, storeToken)).rejects.toThrow('stopped');
    await stream.close();
  };
  const stream = ledger.openChanges(null);
  const following = followTo('two', stream);
  await until('the stream to start', async () => stream.resumeToken !== undefined);
  await titled('one');
  await until('the first change', async () => seen.includes('one'));
  await titled('two');
  await following;
  expect(seen).toEqual(['one', 'two']);
  await titled('three');
  await followTo('three', ledger.openChanges(token));
  // An event shows the matter as it is when the event is read.
  expect(seen.slice(2)).toEqual(['three']);
});

test('a draft is deleted by its initiator alone, and only as it was shown', async () => {
  const { page } = await ledger.readPage(ledger.drafts('carol'), null, 1);
  const { _id, revision, externalId } = page[0] as Stored;
  expect(await ledger.deleteDraft(_id, 'alice', revision)).toMatchObject({ deletedCount: 0 });
  expect(await ledger.deleteDraft(_id, 'carol', revision + 1)).toMatchObject({ deletedCount: 0 });
  expect(await ledger.deleteDraft(_id, 'carol', revision)).toMatchObject({ deletedCount: 1 });
  const answer = await service.push('upsert', { matterType: 'TODO', externalId, title: 'new' });
  expect(answer.data.outcome).toBe('CREATED');
});
