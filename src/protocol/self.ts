/** What a client may ask about itself and about the portal's users: `users/check`, `clients/me`. */
import { z } from 'zod';
import { type Answer, count, instant } from './answer-shape';
import { about } from './bilingual';
import * as fields from './fields';
import { MATTER } from './matter-texts';
import { bounded } from './query-body';

/** Most names of one check. */
const MAX_USERNAMES = 1_000;

/** The length comes first: what is far too long is rejected without a word about each name. */
export const usersCheckSchema = z
  .object({
    usernames: bounded(fields.username, MAX_USERNAMES).meta(
      about('Login names that a push would name', '推送中将要使用的登录名'),
    ),
  })
  .meta(about('Login names', '登录名列表'));

export const clientSelfSchema = z
  .object({})
  .meta(about('Nothing is asked for: an empty object', '无需参数，传空对象'));

export const checkedUser = z
  .object({
    username: z.string().meta(about('As it was asked for', '所查询的登录名')),
    state: z
      .enum(['ENABLED', 'DISABLED', 'UNKNOWN'])
      .meta(
        about(
          'ENABLED may be named in a push; DISABLED and UNKNOWN are rejected there as UNKNOWN_USER',
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
      .meta(about('Whether all of them may be named in a push', '是否全部可以在推送中使用')),
    users: z
      .array(checkedUser)
      .meta(about('In the order asked, each name once', '按请求顺序返回，每个登录名一次')),
  })
  .meta(about('What the directory knows of the names', '登录名的状态'));
export type CheckedUsers = Answer<typeof checkedUsers>;

export const clientRate = z
  .object({
    perSecond: count().meta(about('Requests per second', '每秒请求数')),
    burst: count().meta(about('Requests at once above it', '可突发的请求数')),
  })
  .meta(about('A rate', '速率限制'));
export type ClientRate = Answer<typeof clientRate>;

const TIME = about('ISO-8601 in UTC', 'ISO-8601 格式，UTC 时间');

export const secretView = z
  .object({
    secretId: z.string().meta(about('As the push log names it', '与推送日志中的 secretId 一致')),
    createdAt: instant().meta(TIME),
    endsAt: instant()
      .nullable()
      .meta(about('When it ends; null: it has no end', '失效时间；null 表示长期有效')),
    lastUsedAt: instant()
      .nullable()
      .meta(
        about(
          'Known within a minute; null: never',
          '最后使用时间，一分钟内更新；null 表示从未使用',
        ),
      ),
  })
  .meta(about('A secret by its id, never itself', '密钥的编号与时间，不含密钥'));
export type SecretView = Answer<typeof secretView>;

const SCOPES = ['query', 'push'] as const;
const scopes = () =>
  z
    .array(z.enum(SCOPES))
    .meta(
      about(
        'What it is good for; a push without `push` is rejected as SCOPE_NOT_ALLOWED',
        '权限范围；没有 push 时推送会以 SCOPE_NOT_ALLOWED 被拒绝',
      ),
    );

export const queryKeyView = secretView
  .extend({ scopes: scopes() })
  .meta(
    about(
      'A query key by its id, never itself; one that has ended is told for a day',
      '查询密钥的编号与时间，不含密钥；到期后仍显示一天',
    ),
  );
export type QueryKeyView = Answer<typeof queryKeyView>;

export const signedWith = z
  .object({
    secretId: z.string().meta(about('As the push log names it', '与推送日志中的 secretId 一致')),
    scopes: scopes(),
    endsAt: instant()
      .nullable()
      .meta(
        about(
          'When a query key ends; null: it is a secret of the client',
          '查询密钥的失效时间；null 表示使用的是 client_secret',
        ),
      ),
    rate: clientRate
      .nullable()
      .meta(
        about(
          'What holds for requests like this one: a query key has a rate of its own; null: none',
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
      .meta(about('Bodies as they were sent; 0: not kept', '原始请求体；0 表示不保存')),
    replay: z
      .number()
      .meta(
        about(
          'How long a retry is answered with its first outcome; 0: it is applied again',
          '重试返回首次结果的时长；0 表示重新执行',
        ),
      ),
  })
  .meta(about('How long what is kept', '保存时长'));
export type Retentions = Answer<typeof retentions>;

export const serviceLimits = z
  .object({
    bodyBytes: count().meta(about('Largest body of a push, bytes', '推送请求体的最大字节数')),
    pushTimeout: count().meta(
      about(
        'How long a push waits for its write, milliseconds',
        '推送等待落库确认的最长时间（毫秒）',
      ),
    ),
    batchLines: count().meta(about('Most lines of a batch', '一个批次的最大行数')),
    batchBytes: count().meta(about('Largest body of a batch, bytes', '批次请求体的最大字节数')),
    batchTimeout: count().meta(
      about(
        'How long a batch waits for its writes, milliseconds',
        '批次等待落库确认的最长时间（毫秒）',
      ),
    ),
    timestampWindow: count().meta(
      about('How far X-Timestamp may be off, seconds', 'X-Timestamp 允许的偏差（秒）'),
    ),
    signatureGrace: z
      .number()
      .nullable()
      .meta(
        about(
          'How long a signature may be used for something else too, seconds; null: as long as it is valid',
          '同一签名可用于其他请求的时长（秒）；null 表示在有效期内不限',
        ),
      ),
    parties: count().meta(about('Parties of a matter', '单个事项的参与人数')),
  })
  .meta(about('Limits of the service', '服务的限制'));
export type ServiceLimits = Answer<typeof serviceLimits>;

const pause = z.object({
  since: instant().meta(TIME),
  reason: z.string().nullable().meta(about('In the words of the operator', '运维人员填写的原因')),
});

/** `data` of clients/me. */
export const clientSelf = z
  .object({
    clientId: z.string().meta(about('The client that asks', '当前 client_id')),
    systemCode: z.string().meta(MATTER.systemCode),
    rate: clientRate
      .nullable()
      .meta(about('Its own rate, or that of all; null: none', '速率限制；null 表示不限')),
    paused: pause
      .nullable()
      .meta(
        about(
          'Its pushes are answered CLIENT_PAUSED; null: they are taken',
          '推送已被暂停（返回 CLIENT_PAUSED）；null 表示未暂停',
        ),
      ),
    secrets: z
      .array(secretView)
      .meta(
        about(
          'Without the secrets themselves; the current one first',
          '密钥信息（不含密钥本身），当前密钥在前',
        ),
      ),
    queryKeys: z
      .array(queryKeyView)
      .meta(
        about(
          'Keys for people in a browser, beside the secrets',
          '供浏览器使用的查询密钥，独立于 client_secret',
        ),
      ),
    signedWith: signedWith.meta(
      about('What this request was signed with', '本次请求签名所用的密钥'),
    ),
    timeZone: z
      .string()
      .meta(about('In which local date-times are read', '解析本地时间所用的门户时区')),
    concludedStatuses: z
      .array(z.string())
      .meta(about('Values of bizStatus that conclude a matter', '表示事项已办结的 bizStatus 值')),
    retentions: retentions.meta(
      about('How long what is kept, in seconds', '各类数据的保存时长（秒）'),
    ),
    limits: serviceLimits.meta(about('Limits of the service', '服务的限制')),
    serviceTime: instant().meta(
      about('The clock of the service: ISO-8601 in UTC', '服务当前时间：ISO-8601，UTC'),
    ),
    version: z.string().meta(about('Of the service', '服务版本')),
  })
  .meta(about('What holds for the client that asks', '当前 client 的信息'));
export type ClientSelf = Answer<typeof clientSelf>;
