/** The queries of a client about itself (`clients/me`) and about the users of the portal (`users/check`). */
import { z } from 'zod';
import { type Answer, count, instant } from './answer-shape';
import * as fields from './fields';
import { about } from './language';
import { MATTER } from './matter-view';
import { bounded } from './query-body';

/** Maximum usernames in one body. */
const MAX_USERNAMES = 1_000;

/** Checks the length of the list before its elements, so that a far too long list causes one error. */
export const usersCheckSchema = z
  .object({
    usernames: bounded(fields.username, MAX_USERNAMES).meta(
      about('Login names that a push is going to contain', '推送中将要使用的登录名'),
    ),
  })
  .meta(about('Login names', '登录名列表'));

export const clientSelfSchema = z.object({}).meta(about('An empty object', '无需参数，传空对象'));

export const checkedUser = z
  .object({
    username: z.string().meta(about('The name in the request', '所查询的登录名')),
    state: z
      .enum(['ENABLED', 'DISABLED', 'UNKNOWN'])
      .meta(
        about(
          'ENABLED: a push may contain the name. DISABLED, UNKNOWN: a push with the name is rejected with UNKNOWN_USER',
          'ENABLED 可用于推送；DISABLED（已停用）与 UNKNOWN（不存在）在推送中会以 UNKNOWN_USER 被拒绝',
        ),
      ),
  })
  .meta(about('One name', '一个登录名'));
export type UserState = Answer<typeof checkedUser>['state'];

/** `data` of users/check. */
export const checkedUsers = z
  .object({
    allEnabled: z
      .boolean()
      .meta(about('Whether a push may contain all of the names', '是否全部可以在推送中使用')),
    users: z
      .array(checkedUser)
      .meta(about('In the order of the request, each name once', '按请求顺序返回，每个登录名一次')),
  })
  .meta(about('The state of each name', '登录名的状态'));
export type CheckedUsers = Answer<typeof checkedUsers>;

export const clientRate = z
  .object({
    perSecond: count().meta(about('Requests per second', '每秒请求数')),
    burst: count().meta(about('Requests that are allowed at once after a pause', '可突发的请求数')),
  })
  .meta(about('A rate limit', '速率限制'));
export type ClientRate = Answer<typeof clientRate>;

const TIME = about('ISO-8601 in UTC', 'ISO-8601 格式，UTC 时间');

export const secretView = z
  .object({
    secretId: z.string().meta(about('As the push log names it', '与推送日志中的 secretId 一致')),
    createdAt: instant().meta(TIME),
    endsAt: instant()
      .nullable()
      .meta(
        about('When the secret expires; null: it does not expire', '失效时间；null 表示长期有效'),
      ),
    lastUsedAt: instant()
      .nullable()
      .meta(
        about(
          'When it was last used, updated within a minute; null: never',
          '最后使用时间，一分钟内更新；null 表示从未使用',
        ),
      ),
  })
  .meta(about('Id and times of a secret, without the secret itself', '密钥的编号与时间，不含密钥'));
export type SecretView = Answer<typeof secretView>;

const scopes = () =>
  z
    .array(z.enum(['query', 'push']))
    .meta(
      about(
        'What the key allows; without `push`, a push is rejected with SCOPE_NOT_ALLOWED',
        '权限范围；没有 push 时推送会以 SCOPE_NOT_ALLOWED 被拒绝',
      ),
    );

const BODIES = about(
  'False: answers omit titles, contents, payloads and stored bodies',
  '为 false 时返回结果不含标题、正文、扩展数据和原始请求体',
);

export const queryKeyView = secretView
  .extend({ scopes: scopes(), bodies: z.boolean().meta(BODIES) })
  .meta(
    about(
      'Id and times of a query key, without the key itself; an expired key is listed for a day',
      '查询密钥的编号与时间，不含密钥；到期后仍显示一天',
    ),
  );
export type QueryKeyView = Answer<typeof queryKeyView>;

export const signedWith = z
  .object({
    secretId: z.string().meta(about('As the push log names it', '与推送日志中的 secretId 一致')),
    scopes: scopes(),
    bodies: z.boolean().meta(BODIES),
    endsAt: instant()
      .nullable()
      .meta(
        about(
          'When the query key expires; null: a secret of the client signed the request',
          '查询密钥的失效时间；null 表示使用的是 client_secret',
        ),
      ),
    rate: clientRate
      .nullable()
      .meta(
        about(
          'The rate limit for this request: a query key has a limit of its own; null: no limit',
          '本次请求所适用的速率：查询密钥有自己的速率；null 表示不限',
        ),
      ),
  })
  .meta(about('What this request was signed with', '本次请求签名所用的密钥'));
export type SignedWith = Answer<typeof signedWith>;

export const retentions = z
  .object({
    pushLog: z.number().meta(about('Entries of the push log', '推送日志条目')),
    bodies: z
      .number()
      .meta(about('Bodies as they were sent; 0: not stored', '原始请求体；0 表示不保存')),
    replay: z
      .number()
      .meta(
        about(
          'How long a retry returns the first outcome; 0: retries are applied again',
          '重试返回首次结果的时长；0 表示重新执行',
        ),
      ),
  })
  .meta(about('How long the service stores data', '保存时长'));
export type Retentions = Answer<typeof retentions>;

export const serviceLimits = z
  .object({
    bodyBytes: count().meta(
      about('Maximum size of the body of a push, bytes', '推送请求体的最大字节数'),
    ),
    pushTimeout: count().meta(
      about(
        'How long a push waits for the confirmation of the database, milliseconds',
        '推送等待落库确认的最长时间（毫秒）',
      ),
    ),
    batchLines: count().meta(about('Maximum lines of a batch', '一个批次的最大行数')),
    batchBytes: count().meta(
      about('Maximum size of the body of a batch, bytes', '批次请求体的最大字节数'),
    ),
    batchTimeout: count().meta(
      about(
        'How long a batch waits for the confirmation of the database, milliseconds',
        '批次等待落库确认的最长时间（毫秒）',
      ),
    ),
    timestampWindow: count().meta(
      about(
        'Maximum difference of X-Timestamp from the clock of the service, seconds',
        'X-Timestamp 允许的偏差（秒）',
      ),
    ),
    signatureGrace: z
      .number()
      .nullable()
      .meta(
        about(
          'How long the same signature may be used for other requests, seconds; null: as long as it is valid',
          '同一签名可用于其他请求的时长（秒）；null 表示在有效期内不限',
        ),
      ),
    parties: count().meta(about('Maximum parties of a matter', '单个事项的参与人数')),
  })
  .meta(about('Limits of the service', '服务的限制'));
export type ServiceLimits = Answer<typeof serviceLimits>;

const pause = z.object({
  since: instant().meta(TIME),
  reason: z
    .string()
    .nullable()
    .meta(about('The reason that the operator entered', '运维人员填写的原因')),
});

/** `data` of clients/me. */
export const clientSelf = z
  .object({
    clientId: z.string().meta(about('The calling client', '当前 client_id')),
    systemCode: z.string().meta(MATTER.systemCode),
    rate: clientRate
      .nullable()
      .meta(about('The rate limit of the client; null: no limit', '速率限制；null 表示不限')),
    paused: pause
      .nullable()
      .meta(
        about(
          'Set if its pushes are rejected with CLIENT_PAUSED; null: they are accepted',
          '推送已被暂停（返回 CLIENT_PAUSED）；null 表示未暂停',
        ),
      ),
    secrets: z
      .array(secretView)
      .meta(
        about(
          'Ids and times of the secrets, without the secrets themselves; the current one first',
          '密钥信息（不含密钥本身），当前密钥在前',
        ),
      ),
    queryKeys: z
      .array(queryKeyView)
      .meta(
        about(
          'Query keys, with which people use the console in a browser',
          '供浏览器使用的查询密钥，独立于 client_secret',
        ),
      ),
    signedWith: signedWith.meta(
      about('What this request was signed with', '本次请求签名所用的密钥'),
    ),
    timeZone: z
      .string()
      .meta(about('The time zone of local date-times', '解析本地时间所用的门户时区')),
    concludedStatuses: z
      .array(z.string())
      .meta(about('Values of bizStatus that conclude a matter', '表示事项已办结的 bizStatus 值')),
    retentions: retentions.meta(
      about('How long the service stores data, in seconds', '各类数据的保存时长（秒）'),
    ),
    limits: serviceLimits.meta(about('Limits of the service', '服务的限制')),
    serviceTime: instant().meta(
      about('The clock of the service: ISO-8601 in UTC', '服务当前时间：ISO-8601，UTC'),
    ),
    version: z.string().meta(about('The version of the service', '服务版本')),
  })
  .meta(about('Settings of the calling client', '当前 client 的信息'));
export type ClientSelf = Answer<typeof clientSelf>;
