/** Start-up: every bad setting is told at once, before anything runs, and no secret with it. */
import { ConfigError, queryKeyRate, readConfig, redactConfig } from '../../../src/infra/config';

const KEY = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
const OLD_KEY = `k0:${Buffer.alloc(32, 2).toString('base64')}`;
const REQUIRED = { MONGO_URL: 'mongodb://h/db', REDIS_URL: 'redis://h', SECRET_KEYS: KEY };

function problems(env: Record<string, string>): string[] {
  try {
    readConfig({ ...REQUIRED, ...env });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(':')[0] ?? '');
  }
}

test('a Cluster has eight shards, where nobody says otherwise', () => {
  const cluster = { ...REQUIRED, REDIS_URL: 'redis-cluster://a:1,b:2' };
  expect(readConfig(cluster).REDIS_SHARDS).toBe(8);
  expect(readConfig({ ...cluster, REDIS_SHARDS: '3' }).REDIS_SHARDS).toBe(3);
});

test('what is not set has its default', () => {
  const { SECRET_KEYS, ...rest } = readConfig(REQUIRED);
  expect(SECRET_KEYS).toEqual([KEY]);
  expect(rest).toEqual({
    HOST: '0.0.0.0',
    PORT: 3000,
    KEEP_ALIVE_TIMEOUT: 65_000,
    MONGO_URL: 'mongodb://h/db',
    REDIS_URL: 'redis://h',
    REDIS_NAMESPACE: 'matter-push',
    REDIS_SHARDS: 1,
    REDIS_PARTITIONS: 64,
    DATA_DIR: '.data',
    BATCH_LIMIT: 640,
    BATCH_MAX_ITEMS: 1_000,
    BATCH_BODY_LIMIT: 8 * 1024 * 1024,
    BATCH_TIMEOUT: 30_000,
    BODY_LIMIT: 1_048_576,
    HTTP_STATUS_MODE: 'code',
    PORTAL_TIME_ZONE: 'Asia/Shanghai',
    CONCLUDED_STATUSES: [
      ...['DONE', 'COMPLETED', 'FINISHED', 'APPROVED', 'REJECTED', 'CANCELLED', 'CANCELED'],
      ...['WITHDRAWN', 'REVOKED', 'TERMINATED', 'CLOSED', 'EXPIRED'],
    ],
    PUSH_TIMEOUT: 10_000,
    SIGNATURE_GRACE: 30_000,
    RATE_LIMIT: 0,
    RATE_BURST: 400,
    QUERY_KEY_RATE: 20,
    PUBLIC_URL: '',
    IDEMPOTENT_REPLAY: 'on',
    PUSH_LOG_RETENTION: 30 * 24 * 3_600_000,
    PUSH_BODY_RETENTION: 7 * 24 * 3_600_000,
    MAX_IN_FLIGHT: 5_000,
    PARTITION_LIMIT: 10_000,
    PARTITION_BYTES: 16_777_216,
    DRAIN_DELAY: 5_000,
    DRAIN_TIMEOUT: 40_000,
    METRICS_PORT: 0,
    METRICS_HOST: '127.0.0.1',
    TRACING: 'off',
    OPERATOR_TOKEN: '',
    PAGES: 'on',
    DOCS_DEMO: 'off',
    LOG_REQUESTS: 'off',
    LOG_LEVEL: 'info',
  });
});

test('a query key may send the requests of five seconds at once', () => {
  expect(queryKeyRate(readConfig(REQUIRED))).toEqual({ rate: 20, burst: 100 });
});

test('an empty variable counts as absent', () => {
  expect(readConfig({ ...REQUIRED, PORT: '', PUSH_TIMEOUT: '' })).toEqual(readConfig(REQUIRED));
  expect(problems({ MONGO_URL: '' })).toEqual(['MONGO_URL']);
});

test('every problem is told at once', () => {
  const bad = {
    PORT: 'http',
    MONGO_URL: 'postgres://h',
    REDIS_URL: 'h:6379',
    SECRET_KEYS: 'k1:short',
    PORTAL_TIME_ZONE: 'Asia/Nowhere',
    PUSH_TIMEOUT: 'soon',
    HTTP_STATUS_MODE: 'always',
    IDEMPOTENT_REPLAY: 'maybe',
    LOG_LEVEL: 'loud',
    REDIS_NAMESPACE: 'a b',
  };
  expect(problems(bad).sort()).toEqual(Object.keys(bad).sort());
});

test('what is missing is called required', () => {
  expect(() => readConfig({})).toThrow(/MONGO_URL: is required\n.*REDIS_URL: is required/);
  expect(problems({ SECRET_KEYS: '' })).toEqual(['SECRET_KEYS']);
});

test.each<[string, string[], string[]]>([
  ['PORT', ['0', '65535'], ['-1', '65536', '3000.5', 'x', ' ', '0x10', '1e3']],
  ['BODY_LIMIT', ['1024', '16777216'], ['1023', '16777217']],
  ['SIGNATURE_GRACE', ['0', 'off', '30s', '10m'], ['on', '-1', '11m', 'OFF']],
  ['RATE_LIMIT', ['0', '1000000'], ['-1', '1000001', ' ']],
  ['REDIS_SHARDS', ['1', '64'], ['0', '65']],
  ['REDIS_PARTITIONS', ['1', '1024'], ['0', '1025']],
  ['PUSH_TIMEOUT', ['100ms', '100', '10s'], ['99', '3m', '-1s', '1.5s', '1 s', 's', '1w']],
  ['PUSH_LOG_RETENTION', ['1d', '30d', '3650d'], ['23h', '3651d']],
  ['HTTP_STATUS_MODE', ['code', 'always-200'], ['200', 'CODE']],
  [
    'MONGO_URL',
    ['mongodb+srv://h/db', 'mongodb://a,b/db?replicaSet=rs'],
    ['http://h', 'mongodb:h', 'mongodb://h/', 'mongodb://h/db?w=1'],
  ],
  [
    'REDIS_URL',
    ['rediss://h', 'redis://h/1', 'redis-sentinel://a,b/group', 'rediss-cluster://a,b'],
    ['http://h', '127.0.0.1', 'redis://a,b', 'redis-sentinel://a,b'],
  ],
  ['SECRET_KEYS', [KEY, `${KEY},${OLD_KEY}`, ` ${KEY} , ${OLD_KEY} `], ['k1', `k1:${KEY}`, ',']],
  ['PORTAL_TIME_ZONE', ['UTC', 'Europe/Berlin'], ['Shanghai', '+8 hours']],
  ['REDIS_NAMESPACE', ['a', 'A_b-9', 'x'.repeat(64)], ['a b', 'x'.repeat(65), 'a:b']],
  ['CONCLUDED_STATUSES', ['DONE', 'DONE, A_1'], ['DRAFT', 'done', ',', 'TWO WORDS']],
  ['BATCH_MAX_ITEMS', ['1', '1000'], ['0', '1001']],
  ['BATCH_BODY_LIMIT', ['1024', '16777216'], ['1023', '16777217']],
  ['BATCH_TIMEOUT', ['100ms', '30s'], ['99', '121s', 'soon']],
  ['RATE_BURST', ['1', '1000000'], ['0', '1000001']],
  ['QUERY_KEY_RATE', ['1', '1000000'], ['0', '1000001']],
  ['PUSH_BODY_RETENTION', ['0', '7d', '3650d'], ['3651d', '-1']],
  ['MAX_IN_FLIGHT', ['1', '100000'], ['0', '100001']],
  ['PARTITION_LIMIT', ['1', '1000000'], ['0', '1000001']],
  ['PARTITION_BYTES', ['1048576', '17179869184'], ['1048575', '17179869185']],
  ['BATCH_LIMIT', ['1', '1000'], ['0', '1001']],
  ['DRAIN_DELAY', ['0', '9s'], ['121s', 'x']],
  ['DRAIN_TIMEOUT', ['36s', '300s'], ['301s']],
  ['METRICS_PORT', ['0', '65535'], ['-1', '65536']],
  ['PUBLIC_URL', ['https://h/path', 'http://h:1'], ['h', 'ftp://h', 'https://h/?a=1']],
  ...['IDEMPOTENT_REPLAY', 'TRACING', 'PAGES', 'DOCS_DEMO', 'LOG_REQUESTS'].map(
    (name) => [name, ['on', 'off'], ['ON', 'true', '1']] as [string, string[], string[]],
  ),
  ['LOG_LEVEL', ['fatal', 'silent', 'info'], ['loud', 'INFO']],
])('%s takes %j, not %j', (name, good, bad) => {
  for (const value of good) expect([value, problems({ [name]: value })]).toEqual([value, []]);
  for (const value of bad) expect([value, problems({ [name]: value })]).toEqual([value, [name]]);
});

test('units of time become milliseconds, a list loses its blanks', () => {
  const config = readConfig({
    ...REQUIRED,
    PUSH_TIMEOUT: '2m',
    DRAIN_TIMEOUT: '3m',
    PUSH_LOG_RETENTION: '2d',
    CONCLUDED_STATUSES: ' DONE , ,ARCHIVED',
  });
  expect(config).toMatchObject({
    PUSH_TIMEOUT: 120_000,
    DRAIN_TIMEOUT: 180_000,
    PUSH_LOG_RETENTION: 172_800_000,
    CONCLUDED_STATUSES: ['DONE', 'ARCHIVED'],
  });
});

test('a drain that is shorter than its delay and the wait of a push is rejected: it would cut off what was accepted', () => {
  const drain = (PUSH_TIMEOUT: string, DRAIN_DELAY: string, DRAIN_TIMEOUT: string) =>
    problems({ PUSH_TIMEOUT, DRAIN_DELAY, DRAIN_TIMEOUT, BATCH_TIMEOUT: '1s' });
  expect(drain('20s', '0', '20s')).toEqual(['DRAIN_TIMEOUT']);
  expect(drain('20s', '0', 'one minute')).toEqual(['DRAIN_TIMEOUT']);
  expect(drain('20s', '0', '21s')).toEqual([]);
  expect(drain('10s', '10s', '20s')).toEqual(['DRAIN_TIMEOUT']);
  expect(drain('10s', '9s', '20s')).toEqual([]);
  expect(drain('10s', '3m', '20s')).toEqual(['DRAIN_DELAY']);
});

test('a drain that is shorter than its delay and the wait of a batch is rejected, and both are named', () => {
  const drain = (BATCH_TIMEOUT: string, DRAIN_DELAY: string, DRAIN_TIMEOUT: string) =>
    problems({ BATCH_TIMEOUT, DRAIN_DELAY, DRAIN_TIMEOUT });
  expect(drain('35s', '5s', '40s')).toEqual(['DRAIN_TIMEOUT']);
  expect(drain('34s', '5s', '40s')).toEqual([]);
  expect(drain('3m', '5s', '40s')).toEqual(['BATCH_TIMEOUT']);
  const early = { ...REQUIRED, DRAIN_TIMEOUT: '20s' };
  expect(() => readConfig(early)).toThrow(/DRAIN_TIMEOUT: must be longer than .*BATCH_TIMEOUT/);
});

test('a bad key is told without the key', () => {
  const secret = 'a-secret-of-the-wrong-length';
  const read = () => readConfig({ ...REQUIRED, SECRET_KEYS: `k1:${secret}` });
  expect(read).toThrow('SECRET_KEYS');
  expect(read).not.toThrow(secret);
});

test('two keys under one id are told: only one of them could ever open what it sealed', () => {
  const second = `k1:${Buffer.alloc(32, 3).toString('base64')}`;
  expect(problems({ SECRET_KEYS: `${KEY},${second}` })).toEqual(['SECRET_KEYS']);
});

test('settings are printed with the ids of the keys, not the keys', () => {
  const printed = redactConfig(readConfig({ ...REQUIRED, SECRET_KEYS: `${KEY},${OLD_KEY}` }));
  expect(printed.SECRET_KEYS).toEqual(['k1:[redacted]', 'k0:[redacted]']);
  expect(printed).toMatchObject({ PORT: 3000, MONGO_URL: 'mongodb://h/db' });
});

test.each([
  ['user and password', 'mongodb://user:hunter2@h:27017/db', 'redis://user:hunter2@h/1'],
  ['a password alone', 'mongodb://:hunter2@h/db', 'redis://:hunter2@h'],
  ['several hosts', 'mongodb://user:hunter2@a:1,b:2/db?replicaSet=rs', 'rediss://:hunter2@h'],
  ['an @ in the password', 'mongodb://user:p@hunter2@h/db', 'redis://:p@hunter2@h'],
  ['a slash in the password', 'mongodb://user:p/hunter2@h/db', 'redis-cluster://u:hunter2@h,i'],
  [
    'a password among the options',
    'mongodb://h/db?tlsCertificateKeyFilePassword=hunter2',
    'redis-sentinel://h,i/group?sentinelPassword=hunter2',
  ],
])('no password is printed: %s', (_, MONGO_URL, REDIS_URL) => {
  const printed = JSON.stringify(redactConfig(readConfig({ ...REQUIRED, MONGO_URL, REDIS_URL })));
  expect(printed).not.toContain('hunter2');
  expect(printed).toMatch(/mongodb:\/\/.*h/);
});

test.each(['redis://:p/hunter2@h', 'redis://h?password=hunter2', 'redis-sentinel://u:hunter2@h'])(
  'nor one of an address that cannot be used: %s',
  (REDIS_URL) => {
    const read = () => readConfig({ ...REQUIRED, REDIS_URL });
    expect(read).toThrow('REDIS_URL: must');
    expect(read).not.toThrow('hunter2');
  },
);
