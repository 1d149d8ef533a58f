/** The console recognizes ids that the service assigned. */

import type { Entry } from '../../../browser/console/read/shapes';
import { isUnnamed } from '../../../browser/console/send/fix-guard';
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

test('a notice that named no matter is known by the id that it was given', async () => {
  const headers = { 'X-Idempotency-Key': 'notice' };
  await service.push('upsert', { matterType: 'NOTICE', title: 'x' }, { headers });
  expect(isUnnamed((await entryOf('notice')).externalId)).toBe(true);
  expect(isUnnamed('A')).toBe(false);
});
