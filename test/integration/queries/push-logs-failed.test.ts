/** push-logs/query about failures: which of them nothing mended. */

import { nativeCollection } from '../../../src/infra/mongo';
import type { EntryView } from '../../../src/protocol/log-entry';
import { entryModel, type LogEntry } from '../../../src/storage/push-log/entry';
import { createFindMended } from '../../../src/storage/push-log/mended';
import { aLogEntry } from '../../support/log-entries';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

interface Page {
  entries: EntryView[];
  nextCursor: string | null;
  count?: { value: number; exact: boolean };
}

const SYSTEM = 'LOGS-FAILED';
let service: SharedService;
/** By what they are about. */
const ids: Record<string, string> = {};

const upsert = async (name: string, body: object, idempotencyKey?: string) => {
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  const { requestId } = await service.push('upsert', { matterType: 'TODO', ...body }, key);
  ids[name] = requestId;
};

beforeAll(async () => {
  service = await sharedService(SYSTEM);
  await upsert('mended', { externalId: 'F-1', title: '' });
  await upsert('unknown user', {
    externalId: 'F-2',
    title: 't',
    parties: [{ username: 'nobody', partyRole: 'ASSIGNEE' }],
  });
  await upsert('fine', { externalId: 'F-1', title: 't' });
  const { requestId } = await service.push('status', { externalId: 'F-3', bizStatus: 'DONE' });
  ids['no matter'] = requestId;
  // A notice without an id of its own: only its key tells that it came through later.
  await upsert('notice', { matterType: 'NOTICE', title: '' }, 'F-notice');
  await upsert('sent again', { matterType: 'NOTICE', title: 't' }, 'F-notice');
  await upsert('lost', { matterType: 'NOTICE', title: '' }, 'F-lost');
});
afterAll(() => service.stop());

const query = async (body: object): Promise<Page> => {
  const answer = await service.push('', body, { path: '/api/open/push-logs/query' });
  if (answer.code !== 0) throw new Error(JSON.stringify(answer));
  return answer.data as unknown as Page;
};
const named = ({ entries }: Page) =>
  entries.map(({ requestId }) => Object.keys(ids).find((name) => ids[name] === requestId)).sort();

test('failed asks for all pushes without an effect, whatever the reason', async () => {
  const failed = await query({ failed: true, count: true });
  expect(named(failed)).toEqual(['lost', 'mended', 'no matter', 'notice', 'unknown user']);
  expect(failed.count).toEqual({ value: 5, exact: true });
  expect(failed.nextCursor).toBeNull();
});

test('stillFailed leaves out what a later push of the matter or key mended', async () => {
  const failed = await query({ stillFailed: true, count: true });
  expect(named(failed)).toEqual(['lost', 'no matter', 'unknown user']);
  expect(failed.count).toEqual({ value: 3, exact: true });
  const one = await query({ stillFailed: true, externalId: 'F-1' });
  expect(one.entries).toEqual([]);
});

test('pages of what is still failed are whole, each row once', async () => {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await query({ stillFailed: true, limit: 1, cursor });
    found.push(...page.entries.map(({ requestId }) => requestId));
    cursor = page.nextCursor;
  } while (cursor);
  expect(found).toEqual([ids.lost, ids['no matter'], ids['unknown user']]);
});

test('a retry that repeats an earlier outcome mends nothing else of its matter', async () => {
  const key = 'F-8/1';
  await upsert('first', { externalId: 'F-8', title: 't' }, key);
  await upsert('rejected', { externalId: 'F-8', title: '' });
  await upsert('replayed', { externalId: 'F-8', title: 't' }, key);
  const page = await query({ stillFailed: true, externalId: 'F-8' });
  expect(named(page)).toEqual(['rejected']);
});

test('of a matter with very many pushes the first one after a failure mended it', async () => {
  const by = { clientId: service.clientId, systemCode: SYSTEM };
  const entry = (state: LogEntry['state'], result: string) =>
    aLogEntry({ ...by, externalId: 'F-9', state, result });
  const before = entry('PERSISTED', 'CREATED');
  const failed = entry('REFUSED', 'BACKLOG_FULL');
  const later = Array.from({ length: 4_200 }, () => entry('PERSISTED', 'UPDATED'));
  const last = entry('EXPIRED', 'CONFIRMATION_TIMEOUT');
  const log = nativeCollection<LogEntry>(entryModel(service.db));
  await log.insertMany([before, failed, ...later, last]);
  const mended = await createFindMended(service.db)(SYSTEM, [last, failed]);
  expect([...mended.keys()]).toEqual([String(failed._id)]);
  expect(String(mended.get(String(failed._id))?._id)).toBe(String(later[0]?._id));
});
