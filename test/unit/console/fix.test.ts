/** The form that fixes a failed push: when it asks before it sends. */

import { OWN_REASONS } from '../../../browser/console/read/reasons';
import type { Entry, LogPage } from '../../../browser/console/read/shapes';
import { objectionTo } from '../../../browser/console/send/fix-guard';

describe('one failed push', () => {
  const entry = (more: Partial<Entry>) =>
    ({
      ...{ requestId: 'b', operation: 'upsert', externalId: 'X', idempotencyKey: null },
      ...{ bodyHash: 'hash-b', state: 'REFUSED', reason: 'VALIDATION_FAILED' },
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
  const objection = (of: Entry, ...others: Entry[]) => objectionTo(of, logOf(others));

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

  test('that fails no more is not', async () => {
    expect(await objection(PUSH)).toMatchObject({ isResolved: true });
  });

  test('beside which others of its matter still fail is not: those would count as resolved', async () => {
    const others = [
      entry({ requestId: 'a', bodyHash: 'other' }),
      entry({ requestId: 'c', operation: 'status' }),
    ];
    const all = [PUSH, ...others, entry({ requestId: 'd', externalId: 'Y', bodyHash: 'y' })];
    const told = await objection(PUSH, ...all);
    expect(told).toMatchObject({ isResolved: false, others: 2 });
    expect(told?.failed.map(({ requestId }) => requestId)).toEqual(['b', 'a', 'c']);
  });

  test('that names neither matter nor key is asked for like any other: the service knows who sent it again', async () => {
    const nameless = entry({ externalId: null });
    expect(await objection(nameless, nameless)).toBeUndefined();
    expect(await objection(nameless)).toMatchObject({ isResolved: true });
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
    expect(await objectionTo(PUSH, endless)).toMatchObject({ others: 1_000 });
    expect(pages).toBe(2);
  });
});
