/** What the fields of `users/check` and `clients/me` mean (docs/reconcile.md). */
import type { Bilingual } from '../../protocol/bilingual';

const INSTANT: Bilingual = ['ISO-8601 in UTC', 'ISO-8601 格式，UTC 时间'];

export const SELF_DESCRIPTIONS: Readonly<Record<string, Bilingual>> = {
  usernames: ['Login names that a push would name', '推送中将要使用的登录名'],
  allEnabled: ['Whether all of them may be named in a push', '是否全部可以在推送中使用'],
  users: ['In the order asked, each name once', '按请求顺序返回，每个登录名一次'],
  'CheckedUser.username': ['As it was asked for', '所查询的登录名'],
  'CheckedUser.state': [
    'ENABLED may be named in a push; DISABLED and UNKNOWN are rejected there as UNKNOWN_USER',
    'ENABLED 可用于推送；DISABLED（已停用）与 UNKNOWN（不存在）在推送中会以 UNKNOWN_USER 被拒绝',
  ],
  'ClientSelf.clientId': ['The client that asks', '当前 client_id'],
  rate: ['Its own rate, or that of all; null: none', '速率限制；null 表示不限'],
  perSecond: ['Requests per second', '每秒请求数'],
  burst: ['Requests at once above it', '可突发的请求数'],
  paused: [
    'Its pushes are answered CLIENT_PAUSED; null: they are taken',
    '推送已被暂停（返回 CLIENT_PAUSED）；null 表示未暂停',
  ],
  since: INSTANT,
  'ClientSelf.reason': ['In the words of the operator', '运维人员填写的原因'],
  'paused.reason': ['In the words of the operator', '运维人员填写的原因'],
  secrets: [
    'Without the secrets themselves; the current one first',
    '密钥信息（不含密钥本身），当前密钥在前',
  ],
  'SecretView.secretId': ['As the push log names it', '与推送日志中的 secretId 一致'],
  'SecretView.createdAt': INSTANT,
  endsAt: ['When it ends; null: it has no end', '失效时间；null 表示长期有效'],
  lastUsedAt: [
    'Known within a minute; null: never',
    '最后使用时间，一分钟内更新；null 表示从未使用',
  ],
  'ClientSelf.timeZone': ['In which local date-times are read', '解析本地时间所用的门户时区'],
  concludedStatuses: [
    'Values of bizStatus that conclude a matter',
    '表示事项已办结的 bizStatus 值',
  ],
  retentions: ['How long what is kept, in seconds', '各类数据的保存时长（秒）'],
  pushLog: ['Entries of the push log', '推送日志条目'],
  bodies: ['Bodies as they were sent; 0: not kept', '原始请求体；0 表示不保存'],
  replay: [
    'How long a retry is answered with its first outcome; 0: it is applied again',
    '重试返回首次结果的时长；0 表示重新执行',
  ],
  limits: ['Limits of the service', '服务的限制'],
  bodyBytes: ['Largest body of a push, bytes', '推送请求体的最大字节数'],
  pushTimeout: [
    'How long a push waits for its write, milliseconds',
    '推送等待落库确认的最长时间（毫秒）',
  ],
  timestampWindow: ['How far X-Timestamp may be off, seconds', 'X-Timestamp 允许的偏差（秒）'],
  signatureGrace: [
    'How long a signature may be used for something else too, seconds; null: as long as it is valid',
    '同一签名可用于其他请求的时长（秒）；null 表示在有效期内不限',
  ],
  'ServiceLimits.parties': ['Parties of a matter', '单个事项的参与人数'],
  serviceTime: ['The clock of the service: ISO-8601 in UTC', '服务当前时间：ISO-8601，UTC'],
  version: ['Of the service', '服务版本'],
};
