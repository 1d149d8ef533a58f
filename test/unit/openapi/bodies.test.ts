/** What the OpenAPI document says of a body is what the parsers say: they were made of one thing. */
import fc from 'fast-check';
import { OPERATIONS, type OperationName } from '../../../src/domain/operation';
import { PushError } from '../../../src/protocol/errors';
import { EXAMPLE_TIME } from '../../../src/protocol/examples/request';
import { failuresSchema } from '../../../src/protocol/failures';
import { createIdLines } from '../../../src/protocol/id-lines';
import { logQuerySchema } from '../../../src/protocol/log-query';
import { createMatterQueryReaders } from '../../../src/protocol/matter-queries';
import { statsSchema } from '../../../src/protocol/push-stats';
import { readQuery } from '../../../src/protocol/query-body';
import { createBodyParsers } from '../../../src/protocol/requests';
import { resendSchema } from '../../../src/protocol/resend';
import { clientSelfSchema } from '../../../src/protocol/self';
import { usersCheckSchema } from '../../../src/protocol/users-check';
import { readVerifyBody } from '../../../src/protocol/verify-body';
import { problemsOf } from '../../support/json-schema';
import { DOCUMENT, examplesOf } from '../../support/openapi';
import { resultOf } from '../../support/steps';

const ZONE = 'Asia/Shanghai';
const parsers = createBodyParsers({ timeZone: ZONE, clock: () => EXAMPLE_TIME });
const readers = createMatterQueryReaders(ZONE);
const logQuery = logQuerySchema(ZONE);

/** The fields that a body is rejected for. */
type Rejected = (body: unknown) => string[];

const byParser =
  (operation: OperationName): Rejected =>
  (body) =>
    (parsers[operation](body).error?.issues ?? []).map(({ path }) => path.join('.'));
const byReader =
  (take: (body: unknown) => unknown): Rejected =>
  (body) => {
    try {
      take(body);
      return [];
    } catch (error) {
      if (!(error instanceof PushError)) throw error;
      return (error.errors ?? []).map(({ field }) => field);
    }
  };

interface Case {
  readonly path: string;
  readonly rejected: Rejected;
}
const BODIES: Readonly<Record<string, Case>> = {
  UpsertBody: { path: 'matters/upsert', rejected: byParser('upsert') },
  StatusBody: { path: 'matters/status', rejected: byParser('status') },
  ReopenBody: { path: 'matters/reopen', rejected: byParser('reopen') },
  DeleteBody: { path: 'matters/delete', rejected: byParser('delete') },
  ResendBody: {
    path: 'push-logs/resend',
    rejected: byReader((body) => readQuery(resendSchema, body)),
  },
  LogQueryBody: {
    path: 'push-logs/query',
    rejected: byReader((body) => readQuery(logQuery, body)),
  },
  FailuresBody: {
    path: 'push-logs/failures',
    rejected: byReader((body) => readQuery(failuresSchema(ZONE), body)),
  },
  StatsBody: {
    path: 'push-logs/stats',
    rejected: byReader((body) => readQuery(statsSchema(ZONE), body)),
  },
  GetBody: { path: 'matters/get', rejected: byReader(readers.get) },
  MattersQueryBody: { path: 'matters/query', rejected: byReader(readers.query) },
  DiffBody: { path: 'matters/diff', rejected: byReader((body) => resultOf(readers.diff(body))) },
  DigestBody: { path: 'matters/digest', rejected: byReader(readers.digest) },
  UsersCheckBody: {
    path: 'users/check',
    rejected: byReader((body) => readQuery(usersCheckSchema, body)),
  },
  ClientSelfBody: {
    path: 'clients/me',
    rejected: byReader((body) => readQuery(clientSelfSchema, body)),
  },
};

const schemaOf = (name: string) => DOCUMENT.components.schemas[name] ?? {};
const fieldsOf = (name: string) => Object.keys(schemaOf(name).properties ?? {}).sort();
const problems = (name: string, body: unknown) =>
  problemsOf(schemaOf(name), body, { document: DOCUMENT });
const examplesAt = (path: string) =>
  examplesOf(DOCUMENT.paths[`/api/open/${path}`]?.post?.requestBody?.content).map(
    ({ value }) => value as Record<string, unknown>,
  );

/** A body that notes which of its fields somebody looks at. */
function watched(body: object): { readonly body: object; readonly seen: Set<string> } {
  const seen = new Set<string>();
  const note = (key: string | symbol) => {
    if (typeof key === 'string') seen.add(key);
  };
  const handler: ProxyHandler<object> = {
    get: (target, key) => {
      note(key);
      return Reflect.get(target, key);
    },
    has: (target, key) => {
      note(key);
      return Reflect.has(target, key);
    },
  };
  return { body: new Proxy(body, handler), seen };
}

describe.each(Object.entries(BODIES))('%s', (name, { path, rejected }) => {
  const [example = {}] = examplesAt(path);

  test('its examples pass the parser, and its own schema', () => {
    expect(examplesAt(path)).not.toEqual([]);
    for (const body of examplesAt(path)) {
      expect(rejected(body)).toEqual([]);
      expect(problems(name, body)).toEqual([]);
    }
  });

  test('names the fields that the parser looks at, and no other', () => {
    const { body, seen } = watched(example);
    expect(rejected(body)).toEqual([]);
    expect([...seen].sort()).toEqual(fieldsOf(name));
  });

  test('a field of a wrong type is rejected by both', () => {
    for (const field of fieldsOf(name)) {
      const body = { ...example, [field]: { $ne: null } };
      expect(rejected(body)).toContain(field);
      expect(problems(name, body)).not.toEqual([]);
    }
  });

  test('what it wants, the parser wants; what it leaves open may be null', () => {
    const required = (schemaOf(name).required ?? []) as string[];
    for (const field of fieldsOf(name)) {
      const { [field]: _, ...without } = example;
      const nulled = { ...example, [field]: null };
      const isWanted = required.includes(field);
      expect([field, rejected(nulled).length > 0]).toEqual([
        field,
        problems(name, nulled).length > 0,
      ]);
      expect([field, rejected(without).includes(field)]).toEqual([
        field,
        isWanted || problems(name, without).length > 0,
      ]);
      if (isWanted) expect(rejected(without)).toContain(field);
    }
  });
});

describe('VerifyBody', () => {
  test('its example passes, and its own schema', () => {
    const [example] = examplesAt('verify');
    expect(readVerifyBody(Buffer.from(JSON.stringify(example)))).toEqual(example);
    expect(problems('VerifyBody', example)).toEqual([]);
  });

  test.each(OPERATIONS)('asks of the push of %s what its own body asks', (operation) => {
    const [push = {}] = examplesAt(`matters/${operation}`);
    expect(problems('VerifyBody', { operation, push })).toEqual([]);
    expect(problems('VerifyBody', { operation, push: { ...push, externalId: 7 } })).not.toEqual([]);
  });

  test.each([{ push: {} }, { operation: 'merge', push: {} }, { operation: 'delete' }])(
    '%j is rejected by both',
    (body) => {
      expect(() => readVerifyBody(Buffer.from(JSON.stringify(body)))).toThrow(PushError);
      expect(problems('VerifyBody', body)).not.toEqual([]);
    },
  );
});

test('the fields of a party are those that the parser looks at', () => {
  const { body, seen } = watched({ username: 'li', partyRole: 'CC' });
  expect(
    BODIES.UpsertBody?.rejected({ matterType: 'NOTICE', title: 't', parties: [body] }),
  ).toEqual([]);
  expect([...seen].sort()).toEqual(fieldsOf('Party'));
});

test('the fields of a removal are those that the parser looks at', () => {
  const { body, seen } = watched({ username: 'li', partyRole: 'CC' });
  expect(BODIES.StatusBody?.rejected({ externalId: 'A', removeParties: [body] })).toEqual([]);
  expect([...seen].sort()).toEqual(fieldsOf('PartyRemoval'));
});

const NOTICE = { matterType: 'NOTICE', title: 't' };
const REMOVED = { removeParties: [{ username: 'li' }] };

test.each([
  ['UpsertBody', { ...NOTICE, replaceParties: true, parties: [], ...REMOVED }],
  ['UpsertBody', { ...NOTICE, removeParties: [{ partyRole: 'CC' }] }],
  ['StatusBody', { externalId: 'A', removeParties: [{ username: 'li', partyRole: 'BOSS' }] }],
  ['UpsertBody', { matterType: 'TODO', title: 't' }],
  ['UpsertBody', { matterType: 'TODO', title: 't', externalId: null }],
  ['UpsertBody', { matterType: 'NOTICE', title: 't', replaceParties: true }],
  ['UpsertBody', { matterType: 'NOTICE', title: 't', replaceParties: true, parties: null }],
  ['UpsertBody', { matterType: 'NOTICE', title: 't', pcUrl: ' JavaScript:alert(1)' }],
  ['UpsertBody', { matterType: 'NOTICE', title: 't', sourceUpdatedAt: 'yesterday' }],
  ['UpsertBody', { matterType: 'NOTICE', title: 't', sourceUpdatedAt: -1 }],
  ['UpsertBody', { matterType: 'NOTICE', title: 't', parties: [{ username: 'li' }] }],
  ['LogQueryBody', { outcome: 'CREATED', reason: 'INTERNAL_ERROR' }],
  ['LogQueryBody', { includeBody: true, limit: 51 }],
  ['LogQueryBody', { limit: 501 }],
  ['StatsBody', { by: 'week' }],
  ['GetBody', { externalIds: [] }],
  ['GetBody', { externalIds: [' '] }],
  ['DiffBody', { lines: [{ externalId: 'A', deleted: 'no' }] }],
  ['DigestBody', { fromDay: '2026-1-1' }],
])('%s %j is rejected by both', (name, body) => {
  expect(BODIES[name]?.rejected(body)).not.toEqual([]);
  expect(problems(name, body)).not.toEqual([]);
});

test.each([
  ['UpsertBody', { matterType: 'NOTICE', title: 't', replaceParties: true, parties: [] }],
  ['UpsertBody', { ...NOTICE, replaceParties: true, parties: [], removeParties: [] }],
  ['UpsertBody', { ...NOTICE, ...REMOVED }],
  ['StatusBody', { externalId: 'A', ...REMOVED }],
  ['StatusBody', { externalId: 'A', removeParties: null }],
  ['UpsertBody', { matterType: 'NOTICE', title: 't', sourceUpdatedAt: '1717200000' }],
  ['UpsertBody', { matterType: 'NOTICE', title: 't', sourceUpdatedAt: '2026-01-02 03:04:05' }],
  ['UpsertBody', { matterType: 'NOTICE', title: 't', bizStatus: '', systemCode: 7 }],
  ['LogQueryBody', { outcome: null, reason: 'INTERNAL_ERROR' }],
  ['LogQueryBody', { includeBody: true, limit: 50, from: 0 }],
  ['LogQueryBody', {}],
  ['StatsBody', { by: null, outcome: ['REPLAYED'], reason: 'UNKNOWN_USER' }],
  ['MattersQueryBody', {}],
  ['DigestBody', {}],
])('%s %j passes both', (name, body) => {
  expect(BODIES[name]?.rejected(body)).toEqual([]);
  expect(problems(name, body)).toEqual([]);
});

/** Texts at the edges of the rules: blanks, controls, schemes, characters of two UTF-16 units. */
const edges = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ' ',
        '\t',
        '\n',
        '\0',
        '\x7f',
        '\x85',
        '\ufeff',
        '\u3000',
        '😀',
        '审',
        'A',
        '_',
      ),
      fc.constantFrom('http:', 'JavaScript:', 'data:', 'my.app+x-1:', '//h/p', '0', '{}', '"x"'),
      fc.string({ unit: 'binary', maxLength: 2 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

test.each(['externalId', 'title', 'summary', 'pcUrl', 'bizType', 'priority', 'bizStatus'])(
  'any text as %s is rejected by both, or passes both',
  (field) => {
    const rejected = BODIES.UpsertBody?.rejected;
    fc.assert(
      fc.property(edges, (text) => {
        fc.pre(text.isWellFormed());
        const body = { matterType: 'NOTICE', title: 't', [field]: text };
        expect(problems('UpsertBody', body).length > 0).toBe(rejected?.(body).includes(field));
      }),
      { numRuns: 150 },
    );
  },
);

test.each(['x'.repeat(128), 'x'.repeat(129), '  x'])('an id of a list, %j: the same', (id) => {
  const list = createIdLines();
  list.take(Buffer.from(JSON.stringify(id)));
  const isRejected = byReader(() => list.end())(undefined).length > 0;
  expect(problems('OrphansLine', id).length > 0).toBe(isRejected);
  expect(problems('OrphansLine', { externalId: id }).length > 0).toBe(isRejected);
});

test('the example of a list passes', () => {
  const [lines] = examplesAt('matters/orphans') as unknown as string[];
  const list = createIdLines();
  list.take(Buffer.from(String(lines)));
  expect([...list.end()]).toHaveLength(2);
});
