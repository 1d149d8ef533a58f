/** A to-do that is in nobody's list does not go unnoticed. */
import { entryModel } from '../../../src/storage/push-log/entry';
import { createLogLookups } from '../../../src/storage/push-log/lookups';
import type { Answer } from '../../support/pusher';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => service.stop());

const todo = { matterType: 'TODO', externalId: 'T', title: 'title' };
const alice = { username: 'alice', partyRole: 'ASSIGNEE' };
const kinds = ({ data }: Answer) => data.warnings?.map((it) => (it as { kind: string }).kind) ?? [];
const kindsInLog = async ({ requestId }: Answer) => {
  const entry = await entryModel(service.db).findById(requestId).lean();
  return entry?.warnings?.map(({ kind }) => kind) ?? [];
};

test('the warning comes and goes with the ASSIGNEE, in the answer and in the log', async () => {
  const steps: [string, object, string[]][] = [
    ['upsert', { ...todo, odd: 1 }, ['UNKNOWN_FIELD', 'NO_ASSIGNEE']],
    ['status', { externalId: 'T', bizStatus: 'PROCESSING' }, ['NO_ASSIGNEE']],
    ['upsert', { ...todo, parties: [alice] }, []],
    // Merged with the ASSIGNEE that is there.
    ['upsert', { ...todo, parties: [{ ...alice, partyRole: 'CC' }] }, []],
    ['upsert', { ...todo, parties: [], replaceParties: true }, ['NO_ASSIGNEE']],
    ['status', { externalId: 'T', bizStatus: 'DONE' }, []],
    ['delete', { externalId: 'T' }, []],
  ];
  for (const [operation, body, expected] of steps) {
    const answer = await service.push(operation, body);
    expect([operation, kinds(answer)]).toEqual([operation, expected]);
    expect([operation, await kindsInLog(answer)]).toEqual([operation, expected]);
  }
});

test('a retry is told again, and so is a caller whose reply got lost', async () => {
  const key = { idempotencyKey: 'T/unseen' };
  const body = { ...todo, externalId: 'T-2', odd: 1 };
  const first = await service.push('upsert', body, key);
  const again = await service.push('upsert', body, key);
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.data).toEqual(first.data);
  expect(kinds(again)).toEqual(['UNKNOWN_FIELD', 'NO_ASSIGNEE']);
  // What is looked up in place of a lost reply.
  const { settlements } = createLogLookups(service.db);
  const found = await settlements([first.requestId]);
  expect(found.get(first.requestId)).toMatchObject({ state: 'PERSISTED', unseen: true });
});
