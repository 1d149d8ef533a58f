/** The forms of REDIS_URL, and what is said of one that is none: never with a password. */
import { parseRedisUrl, redisServersOf, redisUrlProblem } from '../../../src/infra/redis/url';

const at = (host: string, port: number) => ({ host, port });
const SENTINELS = [at('s1', 26_379), at('s2', 26_380)];

test.each([
  ['redis://h', { form: 'single', servers: [at('h', 6379)], db: 0 }],
  ['redis://[::1]:7000/3', { form: 'single', servers: [at('::1', 7000)], db: 3 }],
  [
    'rediss://app:p%40ss@h:6380/0?tlsCAFile=/etc/ca.pem',
    {
      form: 'single',
      servers: [at('h', 6380)],
      db: 0,
      username: 'app',
      password: 'p@ss',
      tls: { caFile: '/etc/ca.pem' },
    },
  ],
  [
    'redis-sentinel://:pw@s1,s2:26380/mymaster',
    {
      form: 'sentinel',
      servers: SENTINELS,
      db: 0,
      password: 'pw',
      groupName: 'mymaster',
      sentinel: {},
    },
  ],
  [
    'redis+sentinel://s1,s2:26380/mymaster/2?sentinel_username=watch&sentinelPassword=a=b%26',
    {
      form: 'sentinel',
      servers: SENTINELS,
      db: 2,
      groupName: 'mymaster',
      sentinel: { username: 'watch', password: 'a=b&' },
    },
  ],
  [
    'redis-sentinel://s1,s2:26380/2?sentinelMasterId=mymaster',
    { form: 'sentinel', servers: SENTINELS, db: 2, groupName: 'mymaster', sentinel: {} },
  ],
  [
    'rediss-cluster://app:pw@n1:7000,n2:7001?tlsCertFile=c.pem&tlsKeyFile=k.pem',
    {
      form: 'cluster',
      servers: [at('n1', 7000), at('n2', 7001)],
      db: 0,
      username: 'app',
      password: 'pw',
      tls: { certFile: 'c.pem', keyFile: 'k.pem' },
    },
  ],
  ['redis+cluster://n1/0', { form: 'cluster', servers: [at('n1', 6379)], db: 0 }],
])('%s', (url, address) => {
  expect(parseRedisUrl(url)).toEqual(address);
  expect(redisUrlProblem(url)).toBeUndefined();
});

test.each([
  ['http://secret@h', /must start with redis:\/\//],
  ['redis-cluster:secret@h', /must start with redis:\/\//],
  ['redis://u:sec/ret@h', /must escape/],
  ['redis://u:sec?ret@h', /must escape/],
  ['redis://u:12?secret@h', /must escape/],
  ['redis://h?secret=1', /no options except tlsCAFile/],
  ['redis://u:%secret@h', /must escape/],
  ['redis://secret@h', /must have user:password@/],
  ['redis://', /must name its servers/],
  ['redis://h:0', /must name its servers/],
  ['redis://a,b', /must name one server/],
  ['redis://h/secret', /a database number/],
  ['redis-sentinel://a,b', /must name the group/],
  ['redis-sentinel://a,b/mymaster/x', /a database number/],
  ['redis-cluster://a,b/1', /must not choose a database/],
  ['redis://h?tlsCAFile=/ca', /must start with rediss/],
  ['rediss://h?tlsCertFile=/c', /both tlsCertFile and tlsKeyFile/],
])('%s: %s', (url, problem) => {
  const told = redisUrlProblem(url) ?? '';
  expect(told).toMatch(problem);
  expect(told).not.toContain('secret');
});

test('what is printed of it are its servers', () => {
  expect(redisServersOf('rediss-sentinel://u:p@s1,[::2]:7/name?sentinelPassword=x')).toBe(
    's1:26379,[::2]:7',
  );
});
