/** Who asks in a tab of the console: how a session begins, what ends it, and that none does anything in another one's name. */
import { setImmediate as turn } from 'node:timers/promises';
import { route } from '../../../browser/console/kit/route';
import { sayName } from '../../../browser/console/kit/speech';
import { ask } from '../../../browser/console/read/ask';
import { self } from '../../../browser/console/read/self';
import {
  begin,
  end,
  endedBy,
  openSession,
  session,
  sessionSignal,
} from '../../../browser/console/read/session';
import { mappingFor, remember } from '../../../browser/console/screens/reconcile/mapping';
import { openFile } from '../../../browser/console/screens/reconcile/read-source';
import { compare } from '../../../browser/console/screens/reconcile/run';
import { opened, work } from '../../../browser/console/screens/reconcile/state';
import { resendAll } from '../../../browser/console/send/resend';

const A = { clientId: 'a', key: 'key-a' };
const B = { clientId: 'b', key: 'key-b' };
const NAME = 'matter-push.session';

interface Sent {
  readonly path: string;
  readonly client: string;
  readonly body: string;
}

/** What of a browser the modules use. */
let kept: Map<string, string>;
let isStoreForbidden: boolean;
let replaced: string[];
let sent: Sent[];
let reply: (request: Sent, nth: number) => object | Promise<object>;
const listeners: ((event: { oldURL: string }) => void)[] = [];
/** What the page asks its user, and what the user answers. */
const questions: string[] = [];
let agrees: boolean;

const location = { hash: '', pathname: '/console', search: '', href: 'http://h/console' };
Object.assign(globalThis, {
  location,
  history: { replaceState: (...[, , to]: string[]) => replaced.push(String(to)) },
  confirm: (question: string) => {
    questions.push(question);
    return agrees;
  },
  addEventListener: (_: string, listener: (typeof listeners)[number]) => listeners.push(listener),
  fetch: async (url: URL, { headers, body, signal }: RequestInit) => {
    const client = new Headers(headers).get('X-Client-Id') ?? '';
    const request = { path: url.pathname, client, body: Buffer.from(body as Buffer).toString() };
    sent.push(request);
    const gone = new Promise<never>((_, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason)),
    );
    return Response.json(await Promise.race([reply(request, sent.length), gone]));
  },
});
Object.defineProperty(globalThis, 'sessionStorage', {
  configurable: true,
  get: () => {
    if (isStoreForbidden) throw new DOMException('no', 'SecurityError');
    return {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, text: string) => kept.set(name, text),
      removeItem: (name: string) => kept.delete(name),
    };
  },
});

const GOOD = { code: 0, data: 'answer' };
const never = new Promise<never>(() => {});

beforeEach(() => {
  kept = new Map();
  isStoreForbidden = false;
  replaced = [];
  sent = [];
  reply = () => GOOD;
  listeners.length = 0;
  questions.length = 0;
  agrees = true;
  location.hash = '';
  end();
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => jest.restoreAllMocks());

describe('a link', () => {
  const goTo = (hash: string) => {
    const oldURL = `http://h/console${location.hash}`;
    location.hash = hash;
    for (const listener of listeners) listener({ oldURL });
  };

  test('begins a session and leaves the address, as the page opens', () => {
    location.hash = '#client=a&key=key-a';
    openSession();
    expect([session.value, replaced, kept.size]).toEqual([A, ['/console'], 1]);
  });

  test('that is pasted into an open tab does so too', () => {
    kept.set(NAME, JSON.stringify(A));
    openSession();
    expect(session.value).toEqual(A);
    goTo('#/pushes?lang=en');
    expect([session.value, replaced]).toEqual([A, []]);
    goTo('#client=a&key=another');
    expect([session.value, replaced]).toEqual([{ ...A, key: 'another' }, ['/console']]);
    expect(JSON.parse(kept.get(NAME) ?? '')).toEqual({ ...A, key: 'another' });
    const same = session.value;
    goTo('#client=a&key=another');
    expect([session.value === same, replaced.length]).toEqual([true, 2]);
    expect(questions).toEqual([]);
  });

  describe('of another client', () => {
    const address = 'http://h/console#/pushes?lang=en';
    beforeEach(() => {
      kept.set(NAME, JSON.stringify(A));
      openSession();
      goTo('#/pushes?lang=en');
    });

    test('replaces no session that somebody works in, unless they agree', () => {
      agrees = false;
      const running = sessionSignal();
      goTo('#client=b&key=key-b');
      expect([session.value, running.aborted]).toEqual([A, false]);
      expect(JSON.parse(kept.get(NAME) ?? '')).toEqual(A);
      // Its key leaves the address, and the user is back where they were.
      expect(replaced).toEqual(['/console', address]);
      expect(questions).toEqual([expect.stringMatching(/client a 使用。.*client：b。/)]);
    });

    test('replaces it where they agree', () => {
      goTo('#client=b&key=key-b');
      expect([session.value, replaced, questions.length]).toEqual([B, ['/console'], 1]);
      expect(JSON.parse(kept.get(NAME) ?? '')).toEqual(B);
    });

    test('is asked about in the language of the page', () => {
      route.value = { screen: 'pushes', params: { lang: 'en' } };
      goTo('#client=b&key=key-b');
      route.value = { screen: 'overview', params: {} };
      expect(questions).toEqual([expect.stringContaining('signed in as client a. The link')]);
    });

    test('says who it is in a few characters that are none of the question', () => {
      const client = `b.\n\u202eJust press OK ${'x'.repeat(500)}`;
      goTo(`#${new URLSearchParams({ client, key: 'k' })}`);
      expect(questions[0]).toContain('b.??Just?press?OK?xxx');
      expect(questions[0]?.length).toBeLessThan(300);
    });
  });

  test('of another client is asked about as the page opens, too, where the tab has a session', () => {
    kept.set(NAME, JSON.stringify(A));
    location.hash = '#client=b&key=key-b';
    agrees = false;
    openSession();
    expect([session.value, replaced]).toEqual([A, ['/console', '/console']]);
    agrees = true;
    openSession();
    expect(session.value).toEqual(B);
  });
});

describe('the store of the browser', () => {
  test.each(['', '{', 'null', '7', '{"clientId":1}'])('may hold %j', (text) => {
    kept.set(NAME, text);
    openSession();
    expect(session.value).toBeUndefined();
  });

  test('may be forbidden: the session lasts as long as the page', () => {
    isStoreForbidden = true;
    openSession();
    begin(A);
    expect(session.value).toEqual(A);
    remember(['id'], ['externalId']);
    expect(mappingFor(['id'])).toHaveLength(1);
    end();
    expect(session.value).toBeUndefined();
  });
});

describe('a question', () => {
  /** Where all that is waited for passes at once. */
  const soon = async (asked: () => Promise<unknown>) => {
    jest.useFakeTimers();
    let isSettled = false;
    const settled = asked().finally(() => {
      isSettled = true;
    });
    settled.catch(() => {});
    while (!isSettled) await jest.advanceTimersByTimeAsync(1_000);
    return settled;
  };
  afterEach(() => jest.useRealTimers());
  const refused = (reason: string) => ({ code: 503, message: 'no', reason });

  test.each(['RATE_LIMITED', 'TOO_MANY_QUERIES'])(
    'that meets %s is asked again',
    async (reason) => {
      begin(A);
      reply = (_, nth) => (nth < 3 ? refused(reason) : GOOD);
      expect(await soon(() => ask('q', { of: 'a' }))).toBe('answer');
      expect(sent).toHaveLength(3);
    },
  );

  test('is not asked for ever', async () => {
    begin(A);
    reply = () => refused('TOO_MANY_QUERIES');
    await expect(soon(() => ask('q', {}))).rejects.toMatchObject({ reason: 'TOO_MANY_QUERIES' });
    expect(sent).toHaveLength(9);
  });

  test.each<[string, () => void]>([
    ['another session', () => begin(B)],
    ['no session', () => end()],
  ])('that waits is given up where there is %s by then', async (_, change) => {
    begin(A);
    reply = () => refused('RATE_LIMITED');
    const asked = ask('q', { of: 'a' });
    await turn();
    change();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    expect(sent.map(({ client }) => client)).toEqual(['a']);
  });

  test('that is under way ends with its session, and ends no other one', async () => {
    begin(A);
    reply = () => never;
    const asked = ask('q', { of: 'a' });
    begin(B);
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    expect(session.value).toEqual(B);
  });

  test('is not asked in nobody’s name', async () => {
    await expect(ask('q', {})).rejects.toMatchObject({ name: 'AbortError' });
    expect(sent).toEqual([]);
  });
});

describe('a signature that does not hold', () => {
  const mismatch = { code: 401, message: 'no', reason: 'SIGNATURE_MISMATCH' };

  test('ends the session where the key does not hold either', async () => {
    begin(A);
    reply = () => mismatch;
    await expect(ask('q', { of: 'a' })).rejects.toMatchObject({ reason: 'SIGNATURE_MISMATCH' });
    expect([session.value, endedBy.value]).toEqual([undefined, 'SIGNATURE_MISMATCH']);
  });

  test('does not where something on the way changes this request alone', async () => {
    begin(A);
    reply = ({ path }) => (path.endsWith('/clients/me') ? GOOD : mismatch);
    await expect(ask('q', { of: 'a' })).rejects.toMatchObject({ reason: 'SIGNATURE_MISMATCH' });
    expect(session.value).toEqual(A);
  });
});

describe('failed pushes that are resent', () => {
  const ids = Array.from({ length: 120 }, (_, n) => n.toString(16).padStart(24, '0'));
  const resend = () =>
    resendAll(ids, {
      ...{ set: [], signal: new AbortController().signal },
      ...{ onResults: () => {}, onWait: () => {} },
    });

  test('stay unsent where another session begins, under way or waited for', async () => {
    for (const answer of [never, { code: 503, message: 'busy', reason: 'BACKLOG_FULL' }]) {
      sent = [];
      begin(A);
      reply = () => answer;
      const done = resend();
      while (sent.length === 0) await turn();
      await turn();
      begin(B);
      expect((await done).left).toEqual(ids);
      expect(sent.map(({ client }) => client)).toEqual(['a']);
    }
  });
});

test('a name that a newer service gives is its own word', () => {
  expect(sayName({ ready: ['ready', '就绪'] }, 'ready')).toBe('就绪');
  for (const name of ['resting', 'constructor']) expect(sayName({}, name)).toBe(name);
});

test('a reconciliation stops with its session, and its file is forgotten', async () => {
  begin(A);
  self.value = {
    ...{ clientId: 'a', systemCode: 's', paused: null, timeZone: 'UTC', concludedStatuses: [] },
    signedWith: { secretId: 'k', scopes: ['query'], endsAt: null },
    limits: { batchLines: 10, batchBytes: 10_000 },
  };
  const csv = new Blob(['{"externalId":"OF-A","bizStatus":"DONE"}\n']);
  opened.value = await openFile(csv as never, 'a.ndjson');
  reply = () => never;
  const done = compare();
  while (sent.length === 0) await turn();
  expect(sent[0]).toMatchObject({ client: 'a', path: '/api/open/matters/diff' });
  begin(B);
  expect(opened.value).toBeUndefined();
  await done;
  expect(work.value).toBeUndefined();
  expect(sent.map(({ client }) => client)).toEqual(['a']);
});
