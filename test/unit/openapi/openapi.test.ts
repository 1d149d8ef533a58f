/** The OpenAPI document: everything that the service has is in it, and nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AppOptions, createApp } from '../../../src/http/app';
import { readConfig } from '../../../src/infra/config';
import { createLogger } from '../../../src/infra/logger';
import { SIGNATURE_EXAMPLE } from '../../../src/openapi/introduction';
import { REJECTION_REASONS, rejection } from '../../../src/openapi/reasons';
import { createDocument } from '../../../src/openapi/served';
import { ENDPOINTS, QUERIES } from '../../../src/protocol/endpoints';
import { PushError } from '../../../src/protocol/errors';
import { TIMESTAMP_WINDOW } from '../../../src/protocol/headers';
import { BATCH_PATH, queryPath, RESEND } from '../../../src/protocol/paths';
import { sign } from '../../../src/protocol/signature';
import { resolve } from '../../support/json-schema';
import { DOCUMENT, examplesOf, nodes, OPERATIONS, responseOf } from '../../support/openapi';

const read = (path: string) => readFileSync(join(__dirname, '../../..', path), 'utf8');
const CODES = [...new Set(REJECTION_REASONS.map((reason) => new PushError(reason).code))];
const UNSIGNED = ['/healthz', '/readyz', '/openapi.json'];

test('docs/openapi.json is what the service serves, formatted', () => {
  const served = JSON.parse(createDocument()().bytes.toString());
  const isSame = read('docs/openapi.json') === `${JSON.stringify(served, null, 2)}\n`;
  const mend =
    'docs/openapi.json is another one: "npm run openapi" mends it, and git shows the change';
  expect(isSame ? mend : `not so: ${mend}`).toBe(mend);
});

test('it is made once, when somebody asks, and it is small enough to be asked for', () => {
  const document = createDocument();
  expect(document()).toBe(document());
  expect(document().bytes.length).toBeLessThan(512 * 1024);
});

test('it has the version of the product', () => {
  expect(DOCUMENT.info.version).toBe(JSON.parse(read('package.json')).version);
});

/** What the router of the app knows; HEAD goes with GET. */
function routes(): string[] {
  const queries = Object.fromEntries(QUERIES.map((name) => [name, () => undefined]));
  const app = createApp({
    listeners: { logger: createLogger('test', 'silent') },
    auth: {},
    queries,
    pushes: { batchReader: { limits: {} } },
    health: {},
    pages: new Map(),
    maxInFlight: 1,
    settings: {},
  } as unknown as AppOptions);
  type Layer = { readonly path: string; readonly methods: readonly string[] };
  const routers = app.middleware as unknown as { readonly router?: { readonly stack: Layer[] } }[];
  return routers
    .flatMap(({ router }) => router?.stack ?? [])
    .flatMap(({ path, methods }) => methods.map((method) => `${method} ${path}`))
    .filter((route) => !route.startsWith('HEAD '));
}

test('it has every route of the app, and no other', () => {
  const told = OPERATIONS.map(({ path, method }) => `${method.toUpperCase()} ${path}`);
  expect(told).toContain('POST /api/open/matters/upsert');
  expect(told.sort()).toEqual(routes().sort());
});

test('every operation has a name of its own', () => {
  const names = OPERATIONS.map(({ operation }) => operation.operationId);
  expect(new Set(names).size).toBe(names.length);
});

describe.each(OPERATIONS)('$method $path', ({ path, operation }) => {
  const isSigned = !UNSIGNED.includes(path);

  test('is signed, unless anybody may ask', () => {
    expect(operation.security).toHaveLength(isSigned ? 1 : 0);
    const names = (operation.parameters ?? []).map(({ $ref }) => resolve(DOCUMENT, $ref).name);
    const signing = isSigned ? ['X-Client-Id', 'X-Timestamp', 'X-Signature'] : [];
    const optional = ['X-Idempotency-Key', 'X-Strict-Fields', 'Accept-Language'];
    expect(names.filter((name) => !optional.includes(String(name)))).toEqual(signing);
  });

  test('has examples of what it takes and answers', () => {
    if (path === '/openapi.json') return;
    if (isSigned) expect(examplesOf(operation.requestBody?.content)).not.toEqual([]);
    expect(examplesOf(responseOf(operation, 200)?.content)).not.toEqual([]);
  });

  test('answers each rejection with its own code, and says when to retry', () => {
    for (const code of Object.keys(operation.responses)) {
      if (code === '200' || code === '304') continue;
      const response = responseOf(operation, code);
      const examples = examplesOf(response?.content) as { value: { code: number } }[];
      expect(examples).not.toEqual([]);
      expect(new Set(examples.map(({ value }) => value.code))).toEqual(new Set([Number(code)]));
      const waits = Object.keys(response?.headers ?? {}).includes('Retry-After');
      // A batch of which a line may succeed later.
      const isBatch = code === '207' && [BATCH_PATH, queryPath(RESEND)].includes(path);
      expect([code, waits]).toEqual([code, isBatch || ['429', '503'].includes(code)]);
    }
  });
});

test('what only some operations answer stands with those alone', () => {
  const answering = (reason: string) =>
    OPERATIONS.filter(({ operation }) =>
      JSON.stringify(resolveAll(operation)).includes(`"${reason}"`),
    )
      .map(({ path }) => path.replace('/api/open/matters/', ''))
      .sort();
  expect(answering('UNKNOWN_USER')).toEqual(['/api/open/verify', 'upsert']);
  expect(answering('MATTER_DELETED')).toEqual(['reopen', 'status']);
  expect(answering('MATTER_NOT_FOUND')).toEqual(['delete', 'reopen', 'status']);
  expect(answering('CONFIRMATION_TIMEOUT')).toEqual(['delete', 'reopen', 'status', 'upsert']);
  expect(answering('SIGNATURE_REUSED')).toHaveLength(ENDPOINTS.length);
  // The readiness endpoint too.
  expect(answering('SHUTTING_DOWN')).toHaveLength(ENDPOINTS.length + 1);
});

/** The responses of an operation, with the names of their examples. */
function resolveAll(operation: (typeof OPERATIONS)[number]['operation']) {
  return Object.keys(operation.responses).map((code) => responseOf(operation, code));
}

describe.each(REJECTION_REASONS)('%s', (reason) => {
  const { code, message, retryable } = rejection(reason);

  test('has an answer in the document, word for word', () => {
    const { value } = DOCUMENT.components.examples[reason] ?? {};
    expect(value).toMatchObject({ code, reason, message, retryable, data: null });
  });

  test('has a row in its table', () => {
    const row = `| ${code} | \`${reason}\` | ${message} | ${retryable ? 'yes' : 'no'} |`;
    expect(DOCUMENT.info.description).toContain(row);
  });

  test('can be met somewhere', () => {
    const refs = [...nodes(DOCUMENT)].map(([, { $ref }]) => $ref);
    expect(refs).toContain(`#/components/examples/${reason}`);
  });
});

test('its codes are those of the reasons, and no other', () => {
  const told = OPERATIONS.flatMap(({ operation }) => Object.keys(operation.responses).map(Number));
  const elsewhere = [404, 405];
  expect(new Set([...told, ...elsewhere])).toEqual(new Set([200, 207, 304, ...CODES]));
});

test('every reference leads somewhere, and every component is referred to', () => {
  const refs = [...nodes(DOCUMENT)].flatMap(([, { $ref }]) => ($ref ? [String($ref)] : []));
  expect(refs.length).toBeGreaterThan(100);
  for (const ref of refs) expect(() => resolve(DOCUMENT, ref)).not.toThrow();
  // Nobody answers these at a path of the document.
  const elsewhere = ['PathNotFound', 'MethodNotAllowed'];
  const { schemas, examples, parameters, headers, responses } = DOCUMENT.components;
  for (const [kind, named] of Object.entries({
    schemas,
    examples,
    parameters,
    headers,
    responses,
  })) {
    const unused = Object.keys(named).filter((it) => !refs.includes(`#/components/${kind}/${it}`));
    expect(unused.filter((it) => !elsewhere.includes(it))).toEqual([]);
  }
});

test('every description is English first, then Chinese', () => {
  const texts = [...nodes(DOCUMENT)].flatMap(([keys, { description, summary }]) =>
    keys.includes('value') ? [] : [description, keys.includes('examples') ? undefined : summary],
  );
  const told = texts.filter((text): text is string => typeof text === 'string');
  expect(told.length).toBeGreaterThan(200);
  const isBoth = (text: string) =>
    /^[^\p{Script=Han}]*[A-Za-z]{2}[\s\S]*\p{Script=Han}/u.test(text);
  expect(told.filter((text) => !isBoth(text))).toEqual([]);
});

test('the signature that it shows is right', () => {
  const { secret, clientId, timestamp, body, signature } = SIGNATURE_EXAMPLE;
  expect(sign(secret, clientId, timestamp, body)).toBe(signature);
  expect(DOCUMENT.info.description).toContain(signature);
});

test('the limits that it tells are the defaults of the service', () => {
  const config = readConfig({
    MONGO_URL: 'mongodb://host/db',
    REDIS_URL: 'redis://host',
    SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
  });
  const { requestBody } = DOCUMENT.paths['/api/open/matters/upsert']?.post ?? {};
  expect(requestBody?.['x-max-bytes']).toBe(config.BODY_LIMIT);
  expect(DOCUMENT.info.description).toContain(
    `(PUSH_TIMEOUT, ${config.PUSH_TIMEOUT / 1000} s by default)`,
  );
  expect(DOCUMENT.info.description).toContain(`by more than ${TIMESTAMP_WINDOW} s`);
});
