/** From bytes to a push that may be queued, with warnings, or to every problem it has. */

import { setImmediate as nextTick } from 'node:timers/promises';
import type { OperationName } from '../../../src/domain/operation';
import { PushError } from '../../../src/protocol/errors';
import { createBodyParsers } from '../../../src/protocol/requests';
import { createCheckBodies } from '../../../src/pushes/read-batch';
import {
  createCheckBody,
  type PushContext,
  type ValidatorDependencies,
  validatePush,
} from '../../../src/pushes/validate';
import { aBody, CONTRACT } from '../../support/bodies';
import { NOW } from '../../support/builders';
import type { Body } from '../../support/push-bodies';

const USERS = new Set(['li', 'wang']);
let asked: string[][];
beforeEach(() => {
  asked = [];
});

const deps: ValidatorDependencies = {
  parsers: createBodyParsers(CONTRACT),
  concluded: new Set(['DONE']),
  clock: () => NOW,
  unknownUsers: async (names) => {
    asked.push([...names]);
    return [...new Set(names)].filter((name) => !USERS.has(name));
  },
};
const checkBody = createCheckBody(deps);

const requestContext = (
  operation: OperationName,
  over: Partial<PushContext> = {},
): PushContext => ({
  clientId: 'demo-oa',
  operation,
  signature: 'ab'.repeat(32),
  idempotencyKey: undefined,
  headerErrors: [],
  ...over,
});

function validate(operation: OperationName, over: Body = {}, from: Partial<PushContext> = {}) {
  return validatePush(
    checkBody,
    Buffer.from(JSON.stringify(aBody(operation, over))),
    requestContext(operation, from),
  );
}

const failed = (...fields: string[]) => ({
  code: 400,
  reason: 'VALIDATION_FAILED',
  errors: fields.map((field) => expect.objectContaining({ field, message: expect.any(String) })),
});
const party = (username: string) => ({ username, partyRole: 'ASSIGNEE' });

test('a valid push has its operation, its key and no warnings', async () => {
  const push = await validate('upsert', { parties: [party('li')], bizStatus: 'PENDING' });
  expect(push).toMatchObject({ externalId: 'A-1', operation: { op: 'upsert' }, warnings: [] });
});

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const OPERATIONS = ['upsert', 'status', 'reopen', 'delete'] as const;

test.each(OPERATIONS)('%s: up to 5 minutes ahead is fine, more is a warning', async (op) => {
  const exact = await validate(op, { sourceUpdatedAt: NOW + 5 * MINUTE });
  expect(exact.warnings).toEqual([]);
  const over = await validate(op, { sourceUpdatedAt: NOW + 5 * MINUTE + 1 });
  expect(over.warnings).toMatchObject([{ field: 'sourceUpdatedAt' }]);
});

test.each(OPERATIONS)('%s: up to 24 h ahead is a warning, more is rejected', async (op) => {
  const exact = await validate(op, { sourceUpdatedAt: NOW + DAY });
  expect(exact.warnings).toMatchObject([{ field: 'sourceUpdatedAt' }]);
  const over = validate(op, { sourceUpdatedAt: NOW + DAY + 1 });
  await expect(over).rejects.toMatchObject(failed('sourceUpdatedAt'));
});

test.each(['upsert', 'status', 'reopen'] as const)(
  '%s: a status that nobody knows is stored with a warning',
  async (op) => {
    for (const bizStatus of ['DRAFT', 'PENDING', 'PROCESSING', 'REOPENED', 'DONE', '']) {
      expect((await validate(op, { bizStatus })).warnings).toEqual([]);
    }
    const { warnings } = await validate(op, { bizStatus: 'ARCHIVED' });
    expect(warnings).toMatchObject([{ field: 'bizStatus' }]);
  },
);

test('all unknown users are named at once, with their places', async () => {
  const parties = [party('li'), party('x'), party('wang'), party('y'), party('x')];
  await expect(validate('upsert', { parties })).rejects.toMatchObject({
    code: 400,
    reason: 'UNKNOWN_USER',
    errors: [
      { field: 'parties[1].username', message: expect.stringContaining('x') },
      { field: 'parties[3].username', message: expect.stringContaining('y') },
      { field: 'parties[4].username', message: expect.stringContaining('x') },
    ],
  });
  expect(asked).toEqual([['li', 'x', 'wang', 'y', 'x']]);
});

test('an unknown initiator of a draft is rejected, of anything else a warning', async () => {
  const draft = { bizStatus: 'DRAFT', initiatorUsername: 'x' };
  await expect(validate('upsert', draft)).rejects.toMatchObject({
    reason: 'UNKNOWN_USER',
    errors: [{ field: 'initiatorUsername' }],
  });
  await expect(validate('upsert', { ...draft, parties: [party('y')] })).rejects.toMatchObject({
    errors: [{ field: 'parties[0].username' }, { field: 'initiatorUsername' }],
  });
  const { warnings } = await validate('upsert', { initiatorUsername: 'x' });
  expect(warnings).toMatchObject([{ field: 'initiatorUsername' }]);
  expect((await validate('upsert', { initiatorUsername: 'li' })).warnings).toEqual([]);
});

test('all warnings come together', async () => {
  const { warnings } = await validate('upsert', {
    bizStatus: 'ARCHIVED',
    sourceUpdatedAt: NOW + DAY,
    initiatorUsername: 'x',
  });
  expect(warnings.map(({ field }) => field).sort()).toEqual([
    'bizStatus',
    'initiatorUsername',
    'sourceUpdatedAt',
  ]);
});

test('nobody is looked up for a push that is rejected or names nobody', async () => {
  await validate('upsert').catch(() => undefined);
  await validate('delete').catch(() => undefined);
  await validate('upsert', { title: '', parties: [party('x')] }).catch(() => undefined);
  expect(asked).toEqual([]);
});

const header = { field: 'X-Idempotency-Key', message: 'bad' };
test('problems of headers and body are named together', async () => {
  const from = { headerErrors: [header] };
  const both = validate('upsert', { title: '', bizStatus: 'x' }, from);
  await expect(both).rejects.toMatchObject(failed('X-Idempotency-Key', 'title', 'bizStatus'));
  const alone = validate('upsert', {}, from);
  await expect(alone).rejects.toMatchObject(failed('X-Idempotency-Key'));
  const late = validate('upsert', { sourceUpdatedAt: NOW + 2 * DAY }, from);
  await expect(late).rejects.toMatchObject(failed('X-Idempotency-Key', 'sourceUpdatedAt'));
});

test('a time far in the future is named together with the problems of other fields', async () => {
  const body = { title: '', sourceUpdatedAt: NOW + 2 * DAY };
  await expect(validate('upsert', body)).rejects.toMatchObject(failed('title', 'sourceUpdatedAt'));
});

test('too deep a body is named together with the problems of the headers', async () => {
  const nested = `{"a":${'['.repeat(40)}${']'.repeat(40)}}`;
  const push = validatePush(
    checkBody,
    Buffer.from(nested),
    requestContext('upsert', { headerErrors: [header] }),
  );
  await expect(push).rejects.toMatchObject(failed('X-Idempotency-Key', '(body)'));
});

const idOf = async (from: Partial<PushContext>) =>
  (await validate('upsert', { matterType: 'NOTICE', externalId: undefined }, from)).externalId;

test('a notice without an id gets one that its retry gets again', async () => {
  const signed = await idOf({ signature: 'aa' });
  expect(signed).toMatch(/^auto:[0-9a-f]{32}$/);
  expect(await idOf({ signature: 'aa' })).toBe(signed);
  expect(await idOf({ signature: 'bb' })).not.toBe(signed);
  expect(await idOf({ signature: 'aa', clientId: 'other' })).not.toBe(signed);
});

test('with an idempotency key the assigned id follows the key, not the signature', async () => {
  const keyed = await idOf({ idempotencyKey: 'k', signature: 'aa' });
  expect(keyed).toMatch(/^auto:[0-9a-f]{32}$/);
  expect(await idOf({ idempotencyKey: 'k', signature: 'bb' })).toBe(keyed);
  expect(await idOf({ idempotencyKey: 'l', signature: 'aa' })).not.toBe(keyed);
  expect(await idOf({ idempotencyKey: 'k', clientId: 'other' })).not.toBe(keyed);
  expect(await idOf({ signature: 'k' })).not.toBe(keyed);
});

describe('of the bodies of a batch', () => {
  const checkBodies = createCheckBodies(deps);
  const lines = (count: number, over: Body) =>
    Array.from({ length: count }, () => [aBody('upsert', over), requestContext('upsert')] as const);
  const problems = (result: unknown) => (result instanceof PushError ? result.errors?.length : 0);

  test('each names the first 20 of its wrong fields', async () => {
    const parties = Array.from({ length: 500 }, () => ({}));
    const checked = await checkBodies(lines(3, { parties }));
    expect(checked.map(problems)).toEqual([20, 20, 20]);
    const [body] = lines(1, { parties })[0] ?? [];
    const alone = checkBody(body ?? {}, requestContext('upsert'));
    expect(problems(await alone.catch((error) => error))).toBeGreaterThanOrEqual(500);
  });

  test('each names all of its unknown users, and the first 20 once there are 10,000', async () => {
    const parties = Array.from({ length: 500 }, (_, n) => party(`nobody-${n}`));
    const checked = await checkBodies(lines(22, { parties }));
    expect(checked.map(problems)).toEqual([...Array(20).fill(500), 20, 20]);
  });

  test('others have their turn between them, however few bytes they are', async () => {
    let isOver = false;
    const checking = checkBodies(lines(99, { parties: Array(500).fill({}) })).then(() => {
      isOver = true;
    });
    let turns = 0;
    for (; !isOver; turns += 1) await nextTick();
    await checking;
    expect(turns).toBeGreaterThan(5);
  });
});

describe('what looks wrong in a time or a URL is a warning', () => {
  const warned = async (operation: OperationName, over: Body) =>
    (await validate(operation, over)).warnings.map(({ field, kind }) => [field, kind]);

  test.each([0, 2026, '0', '2026', '0001-01-01T00:00:00', '1999-12-31T23:59:59Z', 99_999_999])(
    'a sourceUpdatedAt of %j is before the year 2000',
    async (sourceUpdatedAt) => {
      const expected = [['sourceUpdatedAt', 'LONG_PAST_TIME']];
      expect(await warned('upsert', { sourceUpdatedAt })).toEqual(expected);
      expect(await warned('status', { sourceUpdatedAt })).toEqual(expected);
      expect(await warned('delete', { sourceUpdatedAt })).toEqual(expected);
    },
  );

  test.each(['2000-01-01T00:00:00Z', '20240601080000', 1_717_200_000])(
    '%j is none',
    async (sourceUpdatedAt) => {
      expect(await warned('status', { sourceUpdatedAt })).toEqual([]);
    },
  );

  test('so is a deadline of 1970', async () => {
    expect(await warned('upsert', { deadlineAt: '1970-01-01T00:00:00' })).toEqual([
      ['deadlineAt', 'LONG_PAST_TIME'],
    ]);
  });

  test('and a host with its port in place of a scheme', async () => {
    const urls = { pcUrl: 'oa.example.com:8080/x', mobileUrl: 'localhost:3000/a' };
    expect(await warned('upsert', urls)).toEqual([
      ['pcUrl', 'URL_WITHOUT_SCHEME'],
      ['mobileUrl', 'URL_WITHOUT_SCHEME'],
    ]);
  });
});

test.each(['20240601', 20_240_601])(
  'a date alone (%j) is rejected with the way to write it',
  async (sourceUpdatedAt) => {
    const message = expect.stringContaining('2024-06-01T00:00:00');
    await expect(validate('status', { sourceUpdatedAt })).rejects.toMatchObject({
      errors: [{ field: 'sourceUpdatedAt', message }],
    });
  },
);

test.each(['9999-12-31T23:59:59-08:00', '0001-01-01T00:00:00'])(
  'a deadline that could not be sent again is rejected: %s',
  async (deadlineAt) => {
    await expect(validate('upsert', { deadlineAt })).rejects.toMatchObject(failed('deadlineAt'));
  },
);
