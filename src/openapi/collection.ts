/** Makes the API collection in examples/postman (Postman format 2.1) from the endpoint table. */
import { ENDPOINTS, type Endpoint } from '../protocol/endpoints';
import { bilingual, bilingualTitle } from '../protocol/language';
import type { JsonValue } from './json-schema';
import { toLines } from './operations';

/** The script replaces variables before signing, because the signature covers the sent bytes. */
const SIGNING_SCRIPT = `const { HmacSHA256 } = require('crypto-js');
const body = pm.variables.replaceIn(pm.request.body.raw || '');
pm.request.body.raw = body;
const clientId = pm.variables.get('clientId');
const timestamp = String(Math.floor(Date.now() / 1000));
const text = [clientId, timestamp, body].join('\\n');
const signature = HmacSHA256(text, pm.variables.get('clientSecret')).toString();
pm.request.headers.upsert({ key: 'X-Client-Id', value: clientId });
pm.request.headers.upsert({ key: 'X-Timestamp', value: timestamp });
pm.request.headers.upsert({ key: 'X-Signature', value: signature });`;

const ABOUT = bilingual([
  'Set the variables `baseUrl`, `clientId` and `clientSecret`. A script of the collection signs each request.',
  '请设置变量 `baseUrl`、`clientId` 和 `clientSecret`。集合的脚本会在发送前为每个请求签名。',
]);

const FOLDERS = [
  { tag: 'push', name: bilingualTitle(['Write matters', '写入事项']) },
  { tag: 'query', name: bilingualTitle(['Reconcile', '对账']) },
] as const;

export const apiCollection = (): JsonValue => ({
  info: {
    name: 'Matter Push',
    description: ABOUT,
    schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
  },
  variable: [
    { key: 'baseUrl', value: 'http://127.0.0.1:3000' },
    { key: 'clientId', value: 'demo' },
    { key: 'clientSecret', value: '' },
  ],
  event: [
    {
      listen: 'prerequest',
      script: { type: 'text/javascript', exec: SIGNING_SCRIPT.split('\n') },
    },
  ],
  item: FOLDERS.map(({ tag, name }) => ({
    name,
    item: ENDPOINTS.filter(({ document }) => document.tag === tag).flatMap(requestsOf),
  })),
});

function requestsOf({ path, document, isKeyed, body }: Endpoint): JsonValue[] {
  const examples = Object.entries(body.examples);
  return examples.map(([example, value]) => ({
    name: bilingualTitle(document.title) + (examples.length > 1 ? ` (${example})` : ''),
    request: {
      method: 'POST',
      description: bilingual(document.description),
      header: [
        { key: 'Content-Type', value: body.lines ? 'application/x-ndjson' : 'application/json' },
        ...(isKeyed ? [{ key: 'X-Idempotency-Key', value: '', disabled: true }] : []),
      ],
      url: {
        raw: `{{baseUrl}}${path}`,
        host: ['{{baseUrl}}'],
        path: path.slice(1).split('/'),
      },
      body: {
        mode: 'raw',
        raw: body.lines ? toLines(value) : JSON.stringify(value, null, 2),
        options: { raw: { language: body.lines ? 'text' : 'json' } },
      },
    },
  }));
}
