/** The form that fixes a failed push: its inputs, its key, and when it needs a confirmation. */

import { OWN_REASONS } from '../../../browser/console/read/reasons';
import type { Entry, LogPage } from '../../../browser/console/read/shapes';
import {
  isOtherThanText,
  kindOf,
  localTimeIn,
  timeTextOf,
} from '../../../browser/console/screens/push/field-kinds';
import { isForeign, keyOf, objectionTo } from '../../../browser/console/send/fix-guard';
import type { Result } from '../../../browser/console/send/resend';

describe('the input of a field', () => {
  test.each([
    ['title', '""', 'text'],
    ['title', '7', 'text'],
    ['title', undefined, 'text'],
    ['parties[3].username', '"x"', 'text'],
    ['payloadJson', '{"a":1}', 'json'],
    ['matterType', '7', 'choice'],
    ['parties[3].partyRole', '"BOSS"', 'choice'],
    ['replaceParties', '"yes"', 'choice'],
    ['resetAssigneeUnread', '1', 'choice'],
    ['deadlineAt', '"31/12/2026"', 'time'],
    ['sourceUpdatedAt', 'null', 'time'],
    ['parties', '"alice"', 'json'],
    ['parties[2]', '"alice"', 'json'],
  ])('%s, which is %s: %s', (place, json, kind) => {
    expect(kindOf(place, json).kind).toBe(kind);
  });

  test('offers the values of the field as JSON', () => {
    const valuesOf = (place: string) => {
      const field = kindOf(place, 'null');
      return field.kind === 'choice' ? field.options.map(([json]) => JSON.parse(json)) : [];
    };
    expect(valuesOf('matterType')).toEqual(['TODO', 'NOTICE', 'ALERT', 'REMIND']);
    expect(valuesOf('parties[0].partyRole')).toEqual(['ASSIGNEE', 'CC', 'RECIPIENT']);
    expect(valuesOf('replaceParties')).toEqual([true, false]);
  });

  test.each([
    ['7', true],
    ['false', true],
    ['"7"', false],
    ['null', false],
    [undefined, false],
  ])('%s can be converted to text: %s', (json, isOther) => {
    expect(isOtherThanText(json)).toBe(isOther);
  });

  test('of a time shows local times only, and gives seconds', () => {
    const shown = ['2026-01-02T03:04', '2026-01-02 03:04:05', '2026-01-02T03:04:05Z', 'tomorrow'];
    expect(shown.map(localTimeIn)).toEqual(['2026-01-02T03:04', '2026-01-02T03:04:05', '', '']);
    expect(['2026-01-02T03:04', '2026-01-02T03:04:05', ''].map(timeTextOf)).toEqual([
      ...['2026-01-02T03:04:00', '2026-01-02T03:04:05', ''],
    ]);
  });
});

describe('one failed push', () => {
  const entry = (more: Partial<Entry>) =>
    ({
      ...{ requestId: 'b', operation: 'upsert', externalId: 'X', idempotencyKey: null },
      ...{ bodyHash: 'hash-b', state: 'REFUSED', reason: 'VALIDATION_FAILED', resentFrom: null },
      ...more,
    }) as Entry;
  const PUSH = entry({});

  /** A log with these, each on a page of its own, behind an empty one. */
  const logOf =
    (all: readonly Entry[]) =>
    async ({ cursor, limit: _, ...question }: Record<string, unknown>): Promise<LogPage> => {
      const { stillFailed, reason, ...fields } = question;
      if (fields.externalId) expect(reason).toEqual(OWN_REASONS);
      const found = all.filter(
        (it) =>
          Object.entries(fields).every(([name, value]) => it[name as keyof Entry] === value) &&
          (!stillFailed || it.state === 'REFUSED'),
      );
      const at = Number(cursor ?? -1);
      const entries = found.slice(Math.max(at, 0), at + 1);
      return { entries, nextCursor: at + 1 < found.length ? String(at + 1) : null };
    };
  const NO_PLAN = async () => undefined;
  const objection = (of: Entry, ...others: Entry[]) =>
    objectionTo(of, { askPage: logOf(others), askPlan: NO_PLAN });

  test('that still fails is sent again', async () => {
    expect(await objection(PUSH, PUSH)).toBeUndefined();
  });

  test('that was tried more than once is one push', async () => {
    const key = 'console/b';
    const tries = [
      entry({ requestId: 'a' }),
      entry({ requestId: 'c', bodyHash: 'fixed', idempotencyKey: key }),
    ];
    expect(await objection(PUSH, ...tries, PUSH)).toBeUndefined();
  });

  test('keeps the key of its first attempt, so that all attempts have one effect', () => {
    expect(keyOf(PUSH)).toBe('console/b');
    expect(keyOf(entry({ idempotencyKey: 'key' }))).toBe('key');
    expect(keyOf(entry({ requestId: 'c', resentFrom: 'b' }))).toBe('console/b');
    expect(keyOf(entry({ requestId: 'c', resentFrom: 'b', idempotencyKey: 'key' }))).toBe('key');
  });

  test.each<[Partial<Result>, string | undefined]>([
    [{ sent: true, code: 0 }, undefined],
    [{ sent: true, code: 400, reason: 'VALIDATION_FAILED' }, undefined],
    [{ sent: false, code: 409, reason: 'STILL_QUEUED' }, 'queued'],
    [{ sent: false, code: 409, reason: 'RESOLVED_SINCE' }, 'resolved'],
    [{ sent: false, code: 0 }, 'resolved'],
    [{ sent: false, code: 409, reason: 'BODY_NOT_STORED' }, undefined],
  ])('is not sent beside a resend that may take effect: plan %j', async (result, kind) => {
    const asked: string[] = [];
    const askPlan = async (id: string) => {
      asked.push(id);
      return { resentFrom: id, message: '', ...result } as Result;
    };
    const told = await objectionTo(PUSH, { askPage: logOf([PUSH]), askPlan });
    expect([told?.kind, asked]).toEqual([kind, ['b']]);
  });

  test('and its resends are one push', async () => {
    const resend = entry({ requestId: 'c', resentFrom: 'b', bodyHash: 'set' });
    const keyed = entry({ idempotencyKey: 'key' });
    expect(await objection(resend, resend, keyed)).toBeUndefined();
    expect(await objection(keyed, resend, keyed)).toBeUndefined();
  });

  test('of another client is not fixed if only its key identifies it', () => {
    const isOf = (more: Partial<Entry>, clientId = 'other') =>
      isForeign(entry({ clientId: 'own', externalId: null, ...more }), clientId);
    expect(isOf({})).toBe(false);
    expect(isOf({ idempotencyKey: 'key' })).toBe(true);
    expect(isOf({ idempotencyKey: 'key' }, 'own')).toBe(false);
    expect(isOf({ resentFrom: 'a' })).toBe(false);
    expect(isOf({ resentFrom: 'a', idempotencyKey: 'key' })).toBe(true);
    expect(isOf({ idempotencyKey: 'key', externalId: 'X' })).toBe(false);
  });

  test('that fails no more is not', async () => {
    expect(await objection(PUSH)).toMatchObject({ kind: 'resolved' });
  });

  test('beside which others of its matter still fail is not: those would count as resolved', async () => {
    const others = [
      entry({ requestId: 'a', bodyHash: 'other' }),
      entry({ requestId: 'c', operation: 'status' }),
    ];
    const all = [PUSH, ...others, entry({ requestId: 'd', externalId: 'Y', bodyHash: 'y' })];
    const told = await objection(PUSH, ...all);
    expect(told).toMatchObject({ kind: 'others', count: 2 });
    expect(told?.failed.map(({ requestId }) => requestId)).toEqual(['b', 'a', 'c']);
  });

  test('that names neither matter nor key is asked for like any other: the service knows who sent it again', async () => {
    const nameless = entry({ externalId: null });
    expect(await objection(nameless, nameless)).toBeUndefined();
    expect(await objection(nameless)).toMatchObject({ kind: 'resolved' });
  });

  test('beside ever so many others is asked about up to a thousand of them', async () => {
    let pages = 0;
    const endless = async ({ requestId }: Record<string, unknown>) => {
      if (!requestId) pages += 1;
      const entries = Array.from({ length: 500 }, () =>
        entry({ requestId: 'a', bodyHash: 'other' }),
      );
      return { entries, nextCursor: requestId ? null : 'more' };
    };
    const questions = { askPage: endless, askPlan: NO_PLAN };
    expect(await objectionTo(PUSH, questions)).toMatchObject({ count: 1_000 });
    expect(pages).toBe(2);
  });
});
