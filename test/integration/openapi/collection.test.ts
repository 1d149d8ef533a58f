/**
 * The API collection, as Postman sends it to a service: its script signs, and each request is answered. Answers and
 * ledger are held against the published JSON Schemas.
 */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { importUsers } from '../../../src/storage/directory/user-admin';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

interface Item {
  readonly name: string;
  readonly item?: readonly Item[];
  readonly request?: {
    readonly method: string;
    readonly header: readonly { key: string; value: string; disabled?: boolean }[];
    readonly url: { readonly raw: string };
    readonly body: { readonly raw: string };
  };
}
type Variables = Readonly<Record<string, string>>;

const ROOT = join(__dirname, '../../..');
const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const COLLECTION = readJson('examples/postman/matter-push.postman_collection.json');
const [{ script }] = COLLECTION.event as [{ script: { exec: string[] } }];
const REQUESTS = (COLLECTION.item as Item[]).flatMap(({ item = [] }) => item);
/** Its example names a push that is not there. */
const PARTLY = /push-logs\/resend$/;

let service: SharedService;
let variables: Variables;
beforeAll(async () => {
  service = await sharedService();
  const names = ['li.lei', 'han.meimei'];
  await importUsers(
    service.db,
    names.map((username) => ({ username, displayName: username })),
  );
  const { clientId, secret } = service;
  variables = { baseUrl: service.urlOf(), clientId, clientSecret: secret };
});
afterAll(() => service.stop());

const replaced = (text: string, values: Variables) =>
  text.replace(/\{\{(\w+)\}\}/g, (all, name) => values[name] ?? all);

/** Names that Postman's sandbox declares. A script that declares one of them again is a syntax error there. */
const DECLARED = ['CryptoJS', '_', 'cheerio', 'moment', 'tv4', 'xml2Json', 'postman', 'request'];

/** As much of Postman as the script uses: variables, the body and the headers of the request. */
function afterScript(request: NonNullable<Item['request']>, values: Variables) {
  const headers = new Map(
    request.header.filter(({ disabled }) => !disabled).map(({ key, value }) => [key, value]),
  );
  const body = { raw: request.body.raw };
  const upsert = ({ key, value }: { key: string; value: string }) => headers.set(key, value);
  const modules: Readonly<Record<string, unknown>> = {
    'crypto-js': {
      HmacSHA256: (text: string, key: string) =>
        createHmac('sha256', key).update(text).digest('hex'),
    },
  };
  const sandbox = createContext({
    require: (name: string) => modules[name],
    pm: {
      variables: {
        get: (name: string) => values[name],
        replaceIn: (text: string) => replaced(text, values),
      },
      request: { body, headers: { upsert } },
    },
  });
  runInContext(`let ${DECLARED.join(', ')};`, sandbox);
  runInContext(script.exec.join('\n'), sandbox);
  return { headers, body: body.raw };
}

async function send(item: Item, values = variables) {
  const { request } = item;
  if (!request) throw new Error(`${item.name} is no request`);
  const { headers, body } = afterScript(request, values);
  const { method, url } = request;
  const answer = await fetch(replaced(url.raw, values), { method, headers: [...headers], body });
  return { status: answer.status, text: await answer.text() };
}

const find = (end: string): Item => {
  const found = REQUESTS.find(({ request }) => request?.url.raw.endsWith(end));
  if (!found) throw new Error(`no request to ${end}`);
  return found;
};

test('has every signed endpoint, in the variables that it declares', () => {
  const paths = Object.keys(readJson('docs/openapi.json').paths);
  const signed = paths.filter((path) => path.startsWith('/api/open/'));
  const urls = REQUESTS.map(({ request }) => request?.url.raw);
  expect(new Set(urls)).toEqual(new Set(signed.map((path) => `{{baseUrl}}${path}`)));
  const declared = COLLECTION.variable.map(({ key }: { key: string }) => key);
  expect(declared).toEqual(Object.keys(variables));
});

test('each request is signed and answered, in the order of the collection', async () => {
  const answers: [string, number, string][] = [];
  for (const item of REQUESTS) {
    const { status, text } = await send(item);
    answers.push([item.name, status, text]);
  }
  const failed = answers.filter(([, status], at) => {
    const isPartly = PARTLY.test(REQUESTS[at]?.request?.url.raw ?? '');
    return status !== (isPartly ? 207 : 200);
  });
  expect(failed).toEqual([]);
});

test('a variable in a body is replaced before the body is signed', async () => {
  const item = find('matters/upsert');
  const body = { matterType: 'NOTICE', title: '{{title}}' };
  const request = { ...item.request, body: { raw: JSON.stringify(body) } } as Item['request'];
  const { status } = await send({ ...item, request }, { ...variables, title: '放假通知' });
  expect(status).toBe(200);
  expect(await service.db.collection('matters').countDocuments({ title: '放假通知' })).toBe(1);
});

test('a wrong secret is rejected', async () => {
  const { status, text } = await send(find('clients/me'), { ...variables, clientSecret: 'x' });
  expect([status, JSON.parse(text).reason]).toEqual([401, 'SIGNATURE_MISMATCH']);
});

test('answers fit the published JSON Schemas', async () => {
  const fits = (name: string, value: unknown) => {
    const ajv = new Ajv2020({ strictTypes: false, strictRequired: false });
    addFormats(ajv);
    const validate = ajv.compile(readJson(`docs/schemas/${name}.schema.json`));
    return [validate(value), validate.errors];
  };
  const batch = find('matters/batch');
  expect(fits('batch-answer', JSON.parse((await send(batch)).text))).toEqual([true, null]);
  const [line = ''] = (batch.request?.body.raw ?? '').split('\n');
  const unknown = line.replaceAll('li.lei', 'nobody');
  const request = { ...batch.request, body: { raw: `${line}\n${unknown}\n` } } as Item['request'];
  const partial = await send({ ...batch, request });
  expect(partial.status).toBe(207);
  expect(fits('batch-answer', JSON.parse(partial.text))).toEqual([true, null]);
  const rejected = await send(batch, { ...variables, clientSecret: 'x' });
  expect(fits('batch-answer', JSON.parse(rejected.text))).toEqual([true, null]);
  const { data } = JSON.parse((await send(find('matters/get'))).text);
  expect(data.matters.length).toBeGreaterThan(0);
  for (const matter of data.matters) expect(fits('matter', matter)).toEqual([true, null]);
});
