/** Values for invalid fields of stored bodies (contract 7.5): what they change, what they never change, and what they cost. */
import type { Problem, PushError } from '../../../src/protocol/errors';
import { createBodyParsers } from '../../../src/protocol/requests';
import type { FieldValue } from '../../../src/protocol/resend';
import { type CheckBodies, createCheckBodies } from '../../../src/pushes/read-batch';
import type { StoredPush } from '../../../src/pushes/resend-plan';
import { checkWithValues } from '../../../src/pushes/resend-values';
import type { ValidPush } from '../../../src/pushes/validate';
import { CONTRACT } from '../../support/bodies';
import { NOW } from '../../support/builders';
import { aLogEntry } from '../../support/log-entries';
import { notice, todo } from '../../support/push-bodies';

const KIB = 1024;
const MIB = 1024 * KIB;
const USERS = ['alice', 'bob'];
/** Bodies that each round of the validation read. */
let rounds: number[] = [];
beforeEach(() => {
  rounds = [];
});
const validate = createCheckBodies({
  parsers: createBodyParsers(CONTRACT),
  concluded: new Set(),
  clock: () => NOW,
  unknownUsers: async (names) => [...new Set(names)].filter((name) => !USERS.includes(name)),
});
const checkBodies: CheckBodies = (bodies, maxProblems) => {
  rounds.push(bodies.length);
  return validate(bodies, maxProblems);
};

/** A stored push. @param body JSON, or the bytes as they are */
function stored(body: object | Buffer, over: Partial<StoredPush['entry']> = {}): StoredPush {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const entry = { ...aLogEntry(over), systemCode: 'TEST', operation: 'upsert' as const };
  const digest = { bodyHash: 'first', bodySize: bytes.length };
  return { entry, body: bytes, firstBody: bytes, digest };
}

const LIMITS = { maxBodyBytes: MIB, maxBytes: 8 * MIB };
const check = (pushes: readonly StoredPush[], values: readonly FieldValue[], limits = {}) =>
  checkWithValues(checkBodies, pushes, { values, ...LIMITS, ...limits });
async function changed(body: object, values: readonly FieldValue[]) {
  const [one] = await check([stored(body)], values);
  const { push } = one?.planned ?? {};
  const { errors = [] } = { ...(one?.checked as PushError) };
  const fields = errors.map(({ field }: Problem) => field);
  return { body: JSON.parse(String(push?.body)), fields, digest: push?.digest };
}

const party = (username: unknown, partyRole: unknown = 'CC') => ({ username, partyRole });
const manyParties = (count: number, of: (n: number) => unknown) =>
  Array.from({ length: count }, (_, n) => of(n));

describe('the size', () => {
  const parties = manyParties(500, (n) => party(`nobody-${n}`));
  const tooLarge = (limit: number) => ({
    reason: 'BODY_TOO_LARGE',
    errors: [{ field: 'set', message: expect.stringContaining(String(limit)) }],
  });

  test('is computed before a body is built: a value is written once, however many places it has', async () => {
    let written = 0;
    const value = {
      toJSON: () => {
        written += 1;
        return 'x'.repeat(MIB / 2);
      },
    };
    const values = [{ field: 'parties[].username', value }];
    await expect(check([stored(todo('M', { parties }))], values)).rejects.toMatchObject(
      tooLarge(MIB),
    );
    expect(written).toBe(1);
  });

  test('is that of the changed body: a value of the size of the limit fits into the place of a larger one', async () => {
    const body = todo('M', { title: 'x', content: 'é'.repeat(100 * KIB) });
    const values = [{ field: 'content', value: 'é'.repeat(KIB) }];
    const [{ planned } = {}] = await check([stored(body)], values);
    const bytes = planned?.push.body.length ?? 0;
    const again = (maxBodyBytes: number) => check([stored(body)], values, { maxBodyBytes });
    await expect(again(bytes)).resolves.toMatchObject([{ checked: { externalId: 'M' } }]);
    await expect(again(bytes - 1)).rejects.toMatchObject(tooLarge(bytes - 1));
  });

  test('of all bodies together has a limit too', async () => {
    const pushes = ['A', 'B', 'C'].map((id) => stored(todo(id, { bizType: 7 })));
    const values = [{ field: 'bizType', value: 'x'.repeat(KIB) }];
    await expect(check(pushes, values, { maxBytes: 2 * KIB })).rejects.toMatchObject({
      ...{ reason: 'BODY_TOO_LARGE', errors: [{ field: 'requestIds' }] },
    });
  });
});

describe('rounds', () => {
  test('set all elements of a list, and then those that only valid fields reveal', async () => {
    const parties = manyParties(500, (n) => party(n % 3 === 0 ? 'bob' : `nobody-${n}`, 'no role'));
    const { body, fields } = await changed(todo('M', { parties }), [
      { field: 'parties[].partyRole', value: 'CC' },
      { field: 'parties[].username', value: 'alice' },
    ]);
    expect(fields).toEqual([]);
    expect(body.parties).toEqual(manyParties(500, (n) => party(n % 3 === 0 ? 'bob' : 'alice')));
  });

  test('replace only the invalid values that `from` names; of two changes, the one with `from` counts', async () => {
    const body = todo('M', { parties: ['li', 'wang', 'bob', 'zhao'].map((name) => party(name)) });
    const field = 'parties[].username';
    const namesWith = async (values: readonly FieldValue[]) => {
      const result = await changed(body, values);
      const parties = result.body.parties as readonly { username: string }[];
      return [parties.map(({ username }) => username).join(' '), result.fields.join(' ')];
    };
    const [wang, li] = [
      { field, from: 'wang', value: 'alice' },
      { field, from: 'li', remove: true as const },
    ];
    expect(await namesWith([wang])).toEqual([
      'li alice bob zhao',
      'parties[0].username parties[3].username',
    ]);
    expect(await namesWith([{ field, value: 'bob' }, wang])).toEqual(['bob alice bob bob', '']);
    // A valid value stays, also if `from` names it.
    expect(await namesWith([wang, { field, from: 'bob', value: 'alice' }])).toEqual([
      'li alice bob zhao',
      'parties[0].username parties[3].username',
    ]);
    const removed = await changed(todo('M', { parties: [party('li')] }), [li]);
    expect(removed.fields).toEqual(['parties[0].username']);
    const numbers = todo('M', { bizType: 7 });
    const same = await changed(numbers, [{ field: 'bizType', from: '7', value: 'x' }]);
    expect(same.fields).toEqual(['bizType']);
    const set = await changed(numbers, [{ field: 'bizType', from: 7, value: 'x' }]);
    expect([set.fields, set.body.bizType]).toEqual([[], 'x']);
  });

  test('end where nothing changes any more, and the answer names as many problems as usual', async () => {
    const pushes = [
      stored(todo('A', { parties: manyParties(100, () => party('', 'no role')) })),
      stored(todo('B', { title: '' })),
      stored(todo('C')),
    ];
    const results = await check(pushes, [{ field: 'parties[].username', value: ' ' }]);
    expect(rounds).toEqual([3, 1]);
    expect(results[0]?.checked).toMatchObject({ reason: 'VALIDATION_FAILED' });
    expect((results[0] as { checked: PushError }).checked.errors).toHaveLength(20);
    expect(results[1]?.planned.push).toBe(pushes[1]);
    expect(results[2]?.planned.push).toBe(pushes[2]);
  });
});

describe('an assigned id', () => {
  const values = (title: string) => [{ field: 'title', value: title }];
  const idWith = async (push: StoredPush, title: string) => {
    const [one] = await check([push], values(title));
    return { ...(one?.checked as ValidPush) }.externalId;
  };
  const body = notice(undefined, { title: '' });

  test.each([undefined, 'a key'])('is the same whatever the values are; key: %s', async (key) => {
    const push = stored(body, { ...(key && { idempotencyKey: key }) });
    const first = await idWith(push, 'one');
    expect(first).toMatch(/^auto:/);
    expect(await idWith(push, 'two')).toBe(first);
    const other = stored(body, { ...(key && { idempotencyKey: `${key} of another push` }) });
    expect(await idWith(other, 'one')).not.toBe(first);
  });

  test('does not depend on the body of an attempt, also if the first body is not stored', async () => {
    const push = { ...stored(body, { idempotencyKey: 'key' }), firstBody: undefined };
    const later = { ...push, body: Buffer.from(JSON.stringify(notice(undefined))) };
    expect(await idWith(push, 'one')).toBe(await idWith(later, 'two'));
  });
});

describe('hostile', () => {
  const title = { field: 'title', value: 'x' };

  test.each([
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'INVALID_ENCODING'],
    ['no JSON', Buffer.from('{"title":'), 'INVALID_JSON'],
    ['a list', Buffer.from('[{"title":""}]'), 'INVALID_JSON'],
    ['deep', Buffer.from(`{"title":${'['.repeat(40)}${']'.repeat(40)}}`), 'VALIDATION_FAILED'],
  ])('stored bodies are sent as they are: %s', async (_, body, reason) => {
    const push = stored(body);
    const [one] = await check([push], [title]);
    expect(one).toMatchObject({ checked: { reason } });
    expect(one?.planned.push).toBe(push);
  });

  test('a value that makes a body too deep or too wide is rejected like such a body', async () => {
    const deep = JSON.parse(`${'['.repeat(31)}${']'.repeat(31)}`);
    const wide = manyParties(2_000, () => []);
    const parties = [party('alice', 'no role'), party('alice', 'no role')];
    for (const value of [deep, wide]) {
      const values = [{ field: 'parties[].partyRole', value }];
      expect((await changed(todo('M', { parties }), values)).fields).toEqual(['(body)']);
    }
  });

  test('names of prototypes in a body or a value change no prototype', async () => {
    const value = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":1}}');
    const body = JSON.parse('{"matterType":"TODO","externalId":"M","__proto__":{"title":"x"}}');
    expect((await changed(body, [{ field: 'title', value }])).fields).toEqual(['title']);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
