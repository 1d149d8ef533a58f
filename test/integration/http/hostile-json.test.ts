/** JSON that is well formed and meant to hurt: depth, width, keys of prototypes, odd numbers. */
import { harmless, rejected } from '../../support/hostile-guard';
import { type Service, startService } from '../../support/service';

let service: Service;
beforeAll(async () => {
  service = await startService({ env: { BODY_LIMIT: String(4 * 1024 * 1024) } });
  const answer = await service.push('upsert', {
    ...{ matterType: 'TODO', externalId: 'KEPT', title: 'as it was' },
    parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }],
    sourceUpdatedAt: 1_700_000_000,
  });
  expect(answer.code).toBe(0);
});
afterAll(() => service.stop());

const upsert = (body: unknown) => ({ path: 'matters/upsert', body });
/** What is named as wrong, each once. */
const fieldsOf = ({ errors = [] }: { errors?: { field: string }[] }) => [
  ...new Set(errors.map(({ field }) => field)),
];

describe('depth', () => {
  const DEEP = 200_000;
  const arrays = `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`;
  const objects = `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`;
  const both = `${'[{"a":'.repeat(DEEP / 2)}1${'}]'.repeat(DEEP / 2)}`;

  test.each([
    ['arrays', arrays],
    ['objects', objects],
    ['both by turns', both],
  ])('200,000 levels of %s in any field are rejected', async (_what, deep) => {
    for (const field of ['payloadJson', '__proto__']) {
      const body = `{"matterType":"TODO","externalId":"KEPT","title":"x","${field}":${deep}}`;
      expect(fieldsOf(await rejected(service, upsert(body), 'VALIDATION_FAILED'))).toEqual([
        '(body)',
      ]);
    }
    const query = { path: 'matters/get', body: `{"externalIds":${arrays}}` };
    expect(fieldsOf(await rejected(service, query, 'VALIDATION_FAILED'))).toEqual(['(body)']);
  });

  test.each([
    ['an array that is the body', arrays],
    ['arrays that do not end', '['.repeat(DEEP)],
    ['objects that do not end', '{"a":'.repeat(DEEP)],
  ])('200,000 levels of %s are rejected before anything is parsed', async (_what, body) => {
    expect(fieldsOf(await rejected(service, { body }, 'VALIDATION_FAILED'))).toEqual(['(body)']);
  });

  test('200,000 levels of objects as the body are rejected', async () => {
    expect(fieldsOf(await rejected(service, { body: objects }, 'VALIDATION_FAILED'))).toEqual([
      '(body)',
    ]);
  });

  test('a payloadJson is a text: it is as deep as its length allows, and kept to the letter', async () => {
    const payloadJson = `${'['.repeat(32_768)}${']'.repeat(32_768)}`;
    const kept = { matterType: 'NOTICE', externalId: 'DEEP', title: 'deep', payloadJson };
    const answer = await service.push('upsert', kept);
    expect(answer).toMatchObject({ code: 0 });
    const got = await harmless(service, { path: 'matters/get', body: { externalIds: ['DEEP'] } });
    expect(got.data).toMatchObject({ matters: [{ payloadJson }] });
  });
});

describe('width', () => {
  const keys = (count: number, name: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => `"${name(n)}":${n}`).join();

  test.each<[string, (n: number) => string]>([
    ['names', (n) => `key-${n}`],
    ['numbers', (n) => String(n)],
    ['numbers beyond an array', (n) => String(4_294_967_295 + n)],
    ['operators', (n) => `$ne${n}`],
    ['__proto__ 100,000 times', () => '__proto__'],
  ])('10,000 unknown keys are ignored, more are rejected: %s', async (_what, name) => {
    const ignored = `{${keys(10_000, name)},"externalId":"NONE"}`;
    expect(await harmless(service, { body: ignored })).toMatchObject({ code: 404 });
    const body = `{${keys(100_000, name)},"externalId":"NONE"}`;
    expect(fieldsOf(await rejected(service, { body }, 'VALIDATION_FAILED'))).toEqual(['(body)']);
  });

  test('10,000 keys within an unknown field are ignored, more are rejected', async () => {
    const bodyOf = (count: number) =>
      `{"externalId":"NONE","x":{${keys(count, (n) => `key-${n}`)}}}`;
    expect(await harmless(service, { body: bodyOf(10_000) })).toMatchObject({ code: 404 });
    const wide = { body: bodyOf(100_000) };
    expect(fieldsOf(await rejected(service, wide, 'VALIDATION_FAILED'))).toEqual(['(body)']);
  });

  test.each([
    ['parties', 'matters/upsert', 'parties'],
    ['externalIds', 'matters/get', 'externalIds'],
    ['lines', 'matters/diff', 'lines'],
  ])('thousands of wrong %s are rejected in a few words', async (_what, path, field) => {
    for (const [length, named] of [
      [9_000, field],
      [100_000, '(body)'],
    ] as const) {
      const list = Array.from({ length }, () => 1);
      const body = { matterType: 'TODO', externalId: 'KEPT', title: 'x', [field]: list };
      const heard = await rejected(service, { path, body }, 'VALIDATION_FAILED');
      expect(fieldsOf(heard)).toEqual([named]);
      expect(heard.text.length).toBeLessThan(1_000);
    }
  });

  test.each(['matters/batch', 'verify/batch'])(
    'a batch of 1,000 lines with 100 invalid parties each: the answer has 20 errors per line (%s)',
    async (path) => {
      const parties = Array.from({ length: 100 }, () => ({}));
      const of = { matterType: 'TODO', externalId: 'KEPT', title: 'x', parties };
      const body = `${JSON.stringify({ op: 'upsert', body: of })}\n`.repeat(1_000);
      const heard = await harmless(service, { path, body });
      expect(heard).toMatchObject({ status: 207, data: { total: 1_000, failed: 1_000 } });
      const { results } = heard.data as unknown as { results: { errors: unknown[] }[] };
      expect(new Set(results.map(({ errors }) => errors.length))).toEqual(new Set([20]));
      expect(heard.text.length).toBeLessThan(2_500_000);
    },
  );

  test('a title of 3,000,000 characters is rejected', async () => {
    const body = { matterType: 'TODO', externalId: 'KEPT', title: 'x'.repeat(3_000_000) };
    expect(fieldsOf(await rejected(service, upsert(body), 'VALIDATION_FAILED'))).toEqual(['title']);
  });
});

describe('keys of prototypes', () => {
  const PLANTED =
    '{"title":"planted","matterType":"TODO","externalId":"KEPT","bizStatus":"DONE","username":"bob",' +
    '"partyRole":"CC","externalIds":["KEPT"],"lines":[{"externalId":"KEPT"}],"code":0,"polluted":true}';

  test.each([
    ['__proto__', `{"__proto__":${PLANTED}}`],
    ['constructor.prototype', `{"constructor":{"prototype":${PLANTED}}}`],
    ['prototype', `{"prototype":${PLANTED}}`],
    ['__proto__ of __proto__', `{"__proto__":{"__proto__":${PLANTED}}}`],
    ['__proto__ escaped', `{"\\u005f_proto__":${PLANTED}}`],
  ])('%s lends nothing to its body, nor to those that come after', async (_what, body) => {
    const OWN: readonly [string, string[]][] = [
      ['matters/upsert', ['matterType', 'title']],
      ['matters/status', ['externalId']],
      ['matters/reopen', ['externalId']],
      ['matters/delete', ['externalId']],
      ['matters/get', ['externalIds']],
      ['matters/diff', ['lines']],
    ];
    for (const [path, missing] of OWN) {
      for (const sent of [body, '{}']) {
        const heard = await rejected(service, { path, body: sent }, 'VALIDATION_FAILED');
        expect([path, fieldsOf(heard)]).toEqual([path, missing]);
      }
    }
  });

  test('nor within a party or a line', async () => {
    const parties = `[{"__proto__":{"username":"bob","partyRole":"CC"}}]`;
    const body = `{"matterType":"TODO","externalId":"KEPT","title":"x","parties":${parties}}`;
    const names = ['parties[0].username', 'parties[0].partyRole'];
    expect(fieldsOf(await rejected(service, upsert(body), 'VALIDATION_FAILED'))).toEqual(names);
    const diff = { path: 'matters/diff', body: '{"lines":[{"__proto__":{"externalId":"KEPT"}}]}' };
    const named = fieldsOf(await rejected(service, diff, 'VALIDATION_FAILED'));
    expect(named).toEqual(['lines[0].externalId']);
  });
});

describe('a key that comes twice', () => {
  test.each([
    ['{"externalId":"KEPT","externalId":"LAST"}', 'LAST'],
    ['{"externalId":{"$ne":null},"externalId":"LAST"}', 'LAST'],
    ['{"externalId":"KEPT","\\u0065xternalId":"LAST"}', 'LAST'],
  ])('%s: the last one counts, as JSON.parse reads it', async (body, last) => {
    const heard = await harmless(service, { body });
    expect(heard).toMatchObject({ code: 404, message: `事项不存在: TEST/${last}` });
  });

  test('the last one counts also where it is the one that is wrong', async () => {
    const body = '{"externalId":"KEPT","bizStatus":"DONE","externalId":{"$ne":null}}';
    expect(fieldsOf(await rejected(service, { body }, 'VALIDATION_FAILED'))).toEqual([
      'externalId',
    ]);
  });
});

describe('numbers', () => {
  const status = (literal: string) =>
    `{"externalId":"KEPT","bizStatus":"DONE","sourceUpdatedAt":${literal}}`;

  test.each([
    '1e308',
    '1e400',
    '-1e400',
    '9007199254740993',
    '"9007199254740993"',
    '1e15',
    '-1',
    '1.5',
    '"1e9"',
    '"NaN"',
    '"Infinity"',
    '"0x65920080"',
    '"-1700000000"',
    '"１７０００００００１"',
    `1${'0'.repeat(400)}`,
    `"${'1'.repeat(400)}"`,
  ])('sourceUpdatedAt %s is no time', async (literal) => {
    const heard = await rejected(service, { body: status(literal) }, 'VALIDATION_FAILED');
    expect(fieldsOf(heard)).toEqual(['sourceUpdatedAt']);
  });

  test.each([
    'NaN',
    'Infinity',
    '-Infinity',
    '+1',
    '01',
    '0x10',
    '1_000',
    '.5',
    '1.',
    '1n',
    '--1',
    '1e',
  ])('sourceUpdatedAt %s is no JSON', async (literal) => {
    await rejected(service, { body: status(literal) }, 'INVALID_JSON');
    await rejected(service, { body: `{"externalId":"KEPT","x":[${literal}]}` }, 'INVALID_JSON');
    const query = { path: 'matters/query', body: `{"limit":${literal}}` };
    await rejected(service, query, 'INVALID_JSON');
  });

  test.each(['0', '-0', '-0.0', '0e99', '1e-400'])(
    'sourceUpdatedAt %s is the first instant there is: older than what is stored, so ignored',
    async (literal) => {
      const heard = await harmless(service, { body: status(literal) });
      expect(heard).toMatchObject({ code: 0, data: { outcome: 'STALE_IGNORED' } });
    },
  );

  test.each(['1e308', '1e400', '-0', '9007199254740993'])(
    '%s is no text, nor a flag, nor a page',
    async (literal) => {
      const body = `{"externalId":${literal},"resetAssigneeUnread":${literal}}`;
      const named = fieldsOf(await rejected(service, { body }, 'VALIDATION_FAILED'));
      expect(named).toEqual(['externalId', 'resetAssigneeUnread']);
      const query = { path: 'push-logs/query', body: `{"limit":${literal},"cursor":${literal}}` };
      expect(fieldsOf(await rejected(service, query, 'VALIDATION_FAILED'))).toEqual([
        'limit',
        'cursor',
      ]);
    },
  );

  test.each(['1e308', '1e400', '-0', '9007199254740993'])(
    '%s in an unknown field is ignored',
    async (literal) => {
      const body = `{"externalId":"NONE","x":${literal},"y":[${literal}]}`;
      expect(await harmless(service, { body })).toMatchObject({ code: 404 });
    },
  );
});
