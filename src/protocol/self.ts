/** Body and answer of `clients/me`, with which a client queries its own settings. */
import { z } from 'zod';
import { type Answer, count, instant } from './answer-shape';
import { describe } from './language';
import { MATTER } from './matter-view';

export const clientSelfSchema = z
  .object({})
  .meta(describe('An empty object', '无需参数，传空对象'));

export const clientRate = z
  .object({
    perSecond: count().meta(describe('Requests per second', '每秒请求数')),
    burst: count().meta(describe('Maximum requests at once', '可突发的请求数')),
  })
  .meta(describe('A rate limit', '速率限制'));
export type ClientRate = Answer<typeof clientRate>;

const TIME = describe('ISO-8601 in UTC', 'ISO-8601 格式，UTC 时间');

export const secretView = z
  .object({
    secretId: z
      .string()
      .meta(describe('The id, as in the push log', '与推送日志中的 secretId 一致')),
    createdAt: instant().meta(TIME),
    endsAt: instant()
      .nullable()
      .meta(
        describe(
          'When the secret expires; null: it does not expire',
          '失效时间；null 表示长期有效',
        ),
      ),
    lastUsedAt: instant()
      .nullable()
      .meta(
        describe(
          'Time of the last use, recorded within a minute; null: never used',
          '最后使用时间，一分钟内更新；null 表示从未使用',
        ),
      ),
  })
  .meta(
    describe('Id and times of a secret, without the secret itself', '密钥的编号与时间，不含密钥'),
  );
export type SecretView = Answer<typeof secretView>;

const scopes = () =>
  z
    .array(z.enum(['query', 'push']))
    .meta(
      describe(
        'Scopes of the key. Without `push`, pushes are rejected with SCOPE_NOT_ALLOWED',
        '权限范围；没有 push 时推送会以 SCOPE_NOT_ALLOWED 被拒绝',
      ),
    );

const BODIES = describe(
  'False: answers omit titles, summaries, contents, payloads and stored bodies',
  '为 false 时返回结果不含标题、正文、扩展数据和原始请求体',
);

export const queryKeyView = secretView
  .extend({ scopes: scopes(), bodies: z.boolean().meta(BODIES) })
  .meta(
    describe(
      'Id and times of a query key, without the key. The list shows an expired key for a day',
      '查询密钥的编号与时间，不含密钥；到期后仍显示一天',
    ),
  );
export type QueryKeyView = Answer<typeof queryKeyView>;

export const signedWith = z
  .object({
    secretId: z
      .string()
      .meta(describe('The id, as in the push log', '与推送日志中的 secretId 一致')),
    scopes: scopes(),
    bodies: z.boolean().meta(BODIES),
    endsAt: instant()
      .nullable()
      .meta(
        describe(
          'Expiry of the query key; null if a secret signed the request',
          '查询密钥的失效时间；null 表示使用的是 client_secret',
        ),
      ),
    rate: clientRate
      .nullable()
      .meta(
        describe(
          'The rate limit for this request; null: no limit. Each query key has a separate limit',
          '本次请求所适用的速率：查询密钥有自己的速率；null 表示不限',
        ),
      ),
  })
  .meta(describe('The secret or query key that signed this request', '本次请求签名所用的密钥'));
export type SignedWith = Answer<typeof signedWith>;

export const retentions = z
  .object({
    pushLog: z.number().meta(describe('Retention of push-log entries', '推送日志条目')),
    bodies: z
      .number()
      .meta(
        describe(
          'Retention of request bodies; 0: bodies are not stored',
          '原始请求体；0 表示不保存',
        ),
      ),
    replay: z
      .number()
      .meta(
        describe(
          'How long a retry returns the first outcome; 0: retries are applied again',
          '重试返回首次结果的时长；0 表示重新执行',
        ),
      ),
  })
  .meta(describe('How long the service stores data', '保存时长'));
export type Retentions = Answer<typeof retentions>;

export const serviceLimits = z
  .object({
    bodyBytes: count().meta(
      describe('Maximum size of the body of a push, bytes', '推送请求体的最大字节数'),
    ),
    pushTimeout: count().meta(
      describe(
        'How long a push waits for the confirmation of the database, milliseconds',
        '推送等待落库确认的最长时间（毫秒）',
      ),
    ),
    batchLines: count().meta(describe('Maximum lines of a batch', '一个批次的最大行数')),
    batchBytes: count().meta(
      describe('Maximum size of the body of a batch, bytes', '批次请求体的最大字节数'),
    ),
    batchTimeout: count().meta(
      describe(
        'How long a batch waits for the confirmation of the database, milliseconds',
        '批次等待落库确认的最长时间（毫秒）',
      ),
    ),
    timestampWindow: count().meta(
      describe(
        'Maximum seconds between X-Timestamp and the service clock',
        'X-Timestamp 允许的偏差（秒）',
      ),
    ),
    signatureGrace: z
      .number()
      .nullable()
      .meta(
        describe(
          'Seconds for which a request with another path or idempotency key may reuse a signature; null: until the signature expires',
          '同一签名可用于其他请求的时长（秒）；null 表示在有效期内不限',
        ),
      ),
    parties: count().meta(describe('Maximum parties of a matter', '单个事项的参与人数')),
  })
  .meta(describe('Limits of the service', '服务的限制'));
export type ServiceLimits = Answer<typeof serviceLimits>;

const pause = z.object({
  since: instant().meta(TIME),
  reason: z
    .string()
    .nullable()
    .meta(describe('The reason that the operator entered', '运维人员填写的原因')),
});

export const clientSelf = z
  .object({
    clientId: z.string().meta(describe('The calling client', '当前 client_id')),
    systemCode: z.string().meta(MATTER.systemCode),
    rate: clientRate
      .nullable()
      .meta(describe('The rate limit of the client; null: no limit', '速率限制；null 表示不限')),
    paused: pause
      .nullable()
      .meta(
        describe(
          'The pause, in which pushes are rejected with CLIENT_PAUSED; null: not paused',
          '推送已被暂停（返回 CLIENT_PAUSED）；null 表示未暂停',
        ),
      ),
    secrets: z
      .array(secretView)
      .meta(
        describe(
          'Ids and times of the secrets, the current secret first',
          '密钥信息（不含密钥本身），当前密钥在前',
        ),
      ),
    queryKeys: z
      .array(queryKeyView)
      .meta(
        describe(
          'Query keys for the console in a browser',
          '供浏览器使用的查询密钥，独立于 client_secret',
        ),
      ),
    signedWith: signedWith.meta(
      describe('The secret or query key that signed this request', '本次请求签名所用的密钥'),
    ),
    timeZone: z
      .string()
      .meta(describe('The time zone of local date-times', '解析本地时间所用的门户时区')),
    concludedStatuses: z
      .array(z.string())
      .meta(
        describe('Values of bizStatus that conclude a matter', '表示事项已办结的 bizStatus 值'),
      ),
    retentions: retentions.meta(
      describe('How long the service stores data, in seconds', '各类数据的保存时长（秒）'),
    ),
    limits: serviceLimits.meta(describe('Limits of the service', '服务的限制')),
    serviceTime: instant().meta(
      describe('The clock of the service: ISO-8601 in UTC', '服务当前时间：ISO-8601，UTC'),
    ),
    version: z.string().meta(describe('The version of the service', '服务版本')),
  })
  .meta(describe('Settings of the calling client', '当前 client 的信息'));
export type ClientSelf = Answer<typeof clientSelf>;
