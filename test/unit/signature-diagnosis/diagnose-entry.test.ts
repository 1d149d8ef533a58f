/** Diagnoses are made one after the other, of requests that were rejected for their signature alone. */
import { createMutex } from '../../../src/concurrency/turns';
import { createDiagnoseEntry } from '../../../src/signature-diagnosis/diagnose';
import { sentSignature } from '../../../src/storage/push-log/entry';
import { aLogEntry } from '../../support/log-entries';

const NOW = 1_795_000_000_000;
const BOUNDS = { time: 60_000, clock: () => performance.now() };
const ENTRY = aLogEntry({ clientId: 'oa', bodySize: 2, state: 'REFUSED' }, NOW);
const REFUSED = { ...ENTRY, signature: sentSignature(String(NOW / 1000), 'ab'.repeat(32)) };
const findSecrets = async () => [{ id: 's1', secret: 'the secret' }];

test('the next begins when the one before it has ended', async () => {
  const turns: string[] = [];
  const queue = createMutex();
  const diagnose = createDiagnoseEntry(findSecrets, BOUNDS, queue);
  const others = queue(async () => {
    turns.push('something else began');
    await new Promise((resolve) => setTimeout(resolve, 50));
    turns.push('and ended');
  });
  const asked = diagnose(REFUSED, Buffer.from('{}')).then((found) => {
    turns.push(String(found?.findings[0]?.cause));
  });
  await Promise.all([others, asked]);
  expect(turns).toEqual(['something else began', 'and ended', 'UNEXPLAINED']);
});

test('of any other entry there is none, and no secret is opened for it', async () => {
  const findNothing = jest.fn(findSecrets);
  const diagnose = createDiagnoseEntry(findNothing, BOUNDS, createMutex());
  expect(await diagnose(ENTRY, Buffer.from('{}'))).toBeUndefined();
  expect(findNothing).not.toHaveBeenCalled();
});
