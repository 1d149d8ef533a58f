/** What must hold after every attack on a service, whatever it was. */
import { matterModel } from '../../src/storage/ledger/matters';
import { entryModel } from '../../src/storage/push-log/entry';
import { connectRaw, type RawAnswer } from './raw-http';
import type { SharedService as Service } from './service';
import { until } from './wait';

/** Pushes that an attack tries to get through name one of these; nothing may ever be known of them. */
export const SMUGGLED = 'SMUGGLED';
const CANARY = 'CANARY';

/** Traces of a stack, and of what this process knows and its callers do not. */
const LEAKS = /\bat \S+ \(|node_modules|node:internal|\.ts:\d|\.js:\d|SECRET_KEYS|mongodb:|redis:/;

/**
 * Sends bytes on a connection of their own and waits for so many answers, or for the end of the
 * connection where no number is given.
 */
export async function attack(
  service: Service,
  bytes: string | Buffer,
  answers?: number,
): Promise<RawAnswer[]> {
  const before = await ledger(service);
  const caller = await connectRaw(service.urlOf());
  caller.send(bytes);
  if (answers) await caller.untilAnswers(answers);
  else await caller.closed;
  caller.socket.destroy();
  await expectUnharmed(service, caller.received());
  expect(await ledger(service)).toEqual(before);
  return caller.answers();
}

/** The process is the same, serves, gave nothing away, and did nothing that was hidden in others. */
export async function expectUnharmed(service: Service, received = ''): Promise<void> {
  const pid = Number(service.webs[0]?.pid);
  expect(() => process.kill(pid, 0)).not.toThrow();
  const canary = { matterType: 'NOTICE', externalId: CANARY, title: 'still here' };
  const last = await until('a push to be answered', async () => {
    const answer = await service.push('upsert', canary);
    // A machine that is busy with the attack may say so; a real caller tries again.
    return answer.code !== 503 && answer;
  });
  expect(last).toMatchObject({ status: 200, code: 0 });
  expect(received).not.toMatch(LEAKS);
  expect(received).not.toContain(service.secret);
  expect(await entryModel(service.db).countDocuments({ externalId: SMUGGLED })).toBe(0);
  expect(await matterModel(service.db).countDocuments({ externalId: SMUGGLED })).toBe(0);
}

/** All of it but the canary. */
function ledger(service: Service): Promise<unknown> {
  const others = { externalId: { $ne: CANARY } };
  return matterModel(service.db).find(others).sort({ _id: 1 }).lean();
}
