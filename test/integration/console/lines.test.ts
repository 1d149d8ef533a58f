/** What the console takes for its own in the log: lines as it sends them, and ids that the service assigned. */
import { bodyHashOf, lineOf } from '../../../public/console/failure-lines';
import { isUnnamed } from '../../../public/console/mend-guard';
import type { Entry } from '../../../public/console/shapes';
import { type Service, startService } from '../../support/service';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

async function entryOf(idempotencyKey: string): Promise<Entry> {
  const path = '/api/open/push-logs/query';
  const { data } = await service.push('', { idempotencyKey }, { path });
  const [entry] = (data as unknown as { entries: Entry[] }).entries;
  if (!entry) throw new Error(`no entry of ${idempotencyKey}`);
  return entry;
}

test.each([
  ['as it came', '{"externalId":"A","matterType":"TODO","title":"报销 \\u00e9 \\"x\\""}'],
  [
    'in lines, between blanks',
    ' {\r\n  "externalId": "B",\n  "matterType": "TODO", "title": "x"\n}\n',
  ],
])('the hash of a body %s is that of the log', async (key, body) => {
  const push = { operation: 'upsert', key: `lines ${key}`, body };
  expect(await service.push('batch', lineOf(push))).toMatchObject({ code: 0 });
  expect((await entryOf(push.key)).bodyHash).toBe(bodyHashOf(push));
});

test('a notice that named no matter is known by the id that it was given', async () => {
  const headers = { 'X-Idempotency-Key': 'notice' };
  await service.push('upsert', { matterType: 'NOTICE', title: 'x' }, { headers });
  expect(isUnnamed((await entryOf('notice')).externalId)).toBe(true);
  expect(isUnnamed('A')).toBe(false);
});
