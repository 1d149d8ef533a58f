/** The resend of the console: its requests, what it repeats, and what stops it. */
import { begin, endedBy, endedWork, session } from '../../../browser/console/read/session';
import { type Counts, resendAll } from '../../../browser/console/send/resend';
import { allGood, fakeService, many, rejected, resent } from '../../support/console-resend';

const service = fakeService();

describe('a resend', () => {
  const resend = async (ids: readonly string[], stop = new AbortController()) => {
    let counts: Counts | undefined;
    const final: string[] = [];
    const waits: (string | undefined)[] = [];
    const { left, isUnconfirmed, error } = await resendAll(ids, {
      ...{ set: [], signal: stop.signal },
      onResults: (results, counted) => {
        final.push(...results.map(({ resentFrom }) => resentFrom));
        counts = counted;
      },
      onWait: (wait) => waits.push(wait?.reason),
    });
    return { left, isUnconfirmed, error, final, counts, waits };
  };
  /** Runs with fake timers, so that waiting takes no time. */
  const patiently = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const done = work.finally(() => {
      isOver = true;
    });
    while (!isOver) await jest.advanceTimersByTimeAsync(1_000);
    return done;
  };
  beforeEach(() => {
    service.begin();
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('takes as many requests as the limit of the service asks for', async () => {
    const ids = many(250);
    const { left, final, counts } = await resend(ids);
    expect([left, final, counts]).toEqual([[], ids, { resent: 250, failed: 0, resolved: 0 }]);
    expect(service.idsOf().map((it) => it.length)).toEqual([100, 100, 50]);
    expect(service.requests()[0]).toMatchObject({ dryRun: false });
  });

  test('counts failures, and pushes that were resolved before', async () => {
    const results = [
      resent('1'),
      resent('2', { code: 400, reason: 'UNKNOWN_USER', retryable: false }),
      resent('3', { sent: false, code: 409, reason: 'RESOLVED_SINCE' }),
      resent('4', { sent: false }),
    ];
    service.answer = () => ({ code: 207, data: { results } });
    const { left, counts } = await resend(['1', '2', '3', '4']);
    expect([left, counts]).toEqual([[], { resent: 1, failed: 1, resolved: 2 }]);
  });

  test('sends pushes that may succeed later again, in front of the others', async () => {
    const ids = many(120);
    const isLate = (id: string) => id === 'id-4' || id === 'id-5';
    service.answer = ({ requestIds }, path) => {
      if (service.requests().length > 1) return allGood({ requestIds }, path);
      const late = { code: 503, reason: 'SKIPPED_AFTER_FAILURE', retryable: true };
      return {
        code: 207,
        data: { results: requestIds.map((id) => resent(id, isLate(id) ? late : {})) },
      };
    };
    const { left, counts, waits } = await patiently(resend(ids));
    expect([left, counts?.resent]).toEqual([[], 120]);
    expect(service.idsOf()[1]?.slice(0, 3)).toEqual(['id-4', 'id-5', 'id-100']);
    expect(waits[0]).toBe('SKIPPED_AFTER_FAILURE');
  });

  test.each([
    ['an answer that is lost', { code: undefined }, 'NO_ANSWER'],
    ['a full queue', rejected(503, 'BACKLOG_FULL'), 'BACKLOG_FULL'],
    ['a timeout', rejected(504, 'CONFIRMATION_TIMEOUT'), 'CONFIRMATION_TIMEOUT'],
  ])('repeats a request after %s, and stops after five attempts', async (_, envelope, reason) => {
    service.answer = () => envelope;
    const { left, error } = await patiently(resend(['1']));
    expect([left, service.requests().length]).toEqual([['1'], 5]);
    expect(error).toMatchObject({ reason });
  });

  test('waits longer for a rate that others of the client use too', async () => {
    service.answer = (request, path) =>
      service.requests().length > 20 ? allGood(request, path) : rejected(429, 'RATE_LIMITED');
    const { left } = await patiently(resend(['1']));
    expect([left, service.requests().length]).toEqual([[], 21]);
  });

  test.each([rejected(503, 'CLIENT_PAUSED'), rejected(403, 'SCOPE_NOT_ALLOWED')])(
    'stops at once where waiting does not help: %j',
    async (envelope) => {
      service.answer = () => envelope;
      const { left, error } = await resend(['1', '2']);
      expect([left, service.requests().length]).toEqual([['1', '2'], 1]);
      expect(error).toMatchObject({ reason: envelope.reason });
    },
  );

  test('that is stopped while it waits sends nothing more', async () => {
    const stop = new AbortController();
    service.answer = () => {
      stop.abort();
      return rejected(503, 'BACKLOG_FULL');
    };
    const { left, error } = await patiently(resend(['1'], stop));
    expect([left, error, service.requests().length]).toEqual([['1'], undefined, 1]);
  });

  test('that is stopped waits for the answer of the last request, and reports its results', async () => {
    const stop = new AbortController();
    service.answer = (request, path) => {
      stop.abort();
      return allGood(request, path);
    };
    const ids = many(150);
    const { left, counts, isUnconfirmed } = await resend(ids, stop);
    expect([left, counts?.resent, isUnconfirmed]).toEqual([ids.slice(100), 100, false]);
    expect(service.requests()).toHaveLength(1);
  });

  test('that is stopped does not divide a request that was too large', async () => {
    const stop = new AbortController();
    service.answer = () => {
      stop.abort();
      return rejected(413, 'BODY_TOO_LARGE');
    };
    const { left, isUnconfirmed } = await resend(many(4), stop);
    expect([left, isUnconfirmed, service.requests().length]).toEqual([many(4), false, 1]);
  });

  test.each([
    ['without an answer', { code: undefined }],
    ['without a confirmation', rejected(504, 'CONFIRMATION_TIMEOUT')],
  ])(
    'that is stopped %s reports that the service may have received the pushes',
    async (_, envelope) => {
      const stop = new AbortController();
      service.answer = () => {
        stop.abort();
        return envelope;
      };
      const { left, isUnconfirmed } = await resend(['1'], stop);
      expect([left, isUnconfirmed]).toEqual([['1'], true]);
    },
  );

  test('that its key ends is reported at the sign-in, and no other key continues it', async () => {
    const mismatch = rejected(401, 'SIGNATURE_MISMATCH');
    service.answer = (request, path) =>
      service.requests().length > 2 ? mismatch : allGood(request, path);
    service.other = () => mismatch;
    const { left } = await resend(many(250));
    expect(left).toEqual(many(250).slice(200));
    expect([session.value, endedBy.value]).toEqual([undefined, 'SIGNATURE_MISMATCH']);
    expect(endedWork.value?.counts).toEqual([200, 0, 50]);
    const { length } = service.asked;
    begin({ clientId: 'b', key: 'key-b' });
    expect(endedWork.value).toBeUndefined();
    await new Promise((later) => setImmediate(later));
    expect(service.asked).toHaveLength(length);
    expect(new Set(service.asked.map(({ client }) => client))).toEqual(new Set(['a']));
  });
});
