/** Parses REDIS_URL in the syntax of the Java client Lettuce. */

export interface RedisServer {
  readonly host: string;
  readonly port: number;
}

/** Paths of PEM files. */
export interface RedisTls {
  /** Absent: Node.js uses its default CAs. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

export interface RedisAddress extends Credentials {
  /** With `sentinel`, `servers` contains the sentinels. */
  readonly form: 'single' | 'sentinel' | 'cluster';
  readonly servers: readonly RedisServer[];
  readonly db: number;
  /** Undefined if the connection is not encrypted. */
  readonly tls?: RedisTls;
  readonly groupName?: string;
  readonly sentinel?: Credentials;
}

const SCHEMES =
  'redis://, rediss://, redis-sentinel://, rediss-sentinel://, redis-cluster:// or rediss-cluster://';
const OPTIONS = [
  ...['tlsCAFile', 'tlsCertFile', 'tlsKeyFile'],
  ...['sentinelMasterId', 'sentinelUsername', 'sentinelPassword'],
] as const;
type Option = (typeof OPTIONS)[number];

const PORTS = { single: 6379, sentinel: 26_379, cluster: 6379 };

/** The message is for the operator and never contains a user or a password. */
class RedisUrlProblem extends Error {
  override readonly name = 'RedisUrlProblem';
}

/** @returns the problem of the URL; undefined if the URL is valid */
export function redisUrlProblem(url: string): string | undefined {
  try {
    parseRedisUrl(url);
    return undefined;
  } catch (error) {
    if (error instanceof RedisUrlProblem) return error.message;
    throw error;
  }
}

/** @throws RedisUrlProblem if the URL is invalid */
export function parseRedisUrl(url: string): RedisAddress {
  // The class `URL` rejects a URL with several hosts.
  const parts =
    /^(rediss?)(?:[-+](sentinel|cluster))?:\/\/(?:([^/?#]*)@)?([^@/?#]*)(\/[^@?#]*)?(?:\?([^@#]*))?$/.exec(
      url,
    );
  if (!parts) throw new RedisUrlProblem(syntaxProblem(url));
  const [, scheme, kind, user, hosts = '', path = '', query = ''] = parts;
  const form = (kind as 'sentinel' | 'cluster' | undefined) ?? 'single';
  const options = readOptions(query);
  const tls = readTls(scheme === 'rediss', options);
  return {
    form,
    servers: readServers(hosts, form),
    ...readUser(user),
    ...readPath(path, form, options.sentinelMasterId),
    ...(tls && { tls }),
    ...(form === 'sentinel' && { sentinel: readSentinelUser(options) }),
  };
}

/** For display: `host:port,host:port`, without users, passwords and options. */
export function redisServersOf(url: string): string {
  const servers = parseRedisUrl(url).servers;
  return servers.map(({ host, port }) => `${isIpv6(host) ? `[${host}]` : host}:${port}`).join(',');
}

const ESCAPE = 'must escape / ? # @ and % in names and passwords, as %2F %3F %23 %40 and %25';

function syntaxProblem(url: string): string {
  return /^rediss?([-+](sentinel|cluster))?:\/\//.test(url) ? ESCAPE : `must start with ${SCHEMES}`;
}

function readServers(hosts: string, form: RedisAddress['form']): RedisServer[] {
  const servers = hosts.split(',').map((one) => readServer(one, PORTS[form]));
  if (form === 'single' && servers.length > 1) {
    throw new RedisUrlProblem(
      'must name one server; for several, use redis-sentinel:// or redis-cluster://',
    );
  }
  return servers;
}

function readServer(text: string, defaultPort: number): RedisServer {
  const [, ipv6, name, port = String(defaultPort)] =
    /^(?:\[([\da-fA-F:.]+)\]|([^[\]:\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = ipv6 ?? name;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new RedisUrlProblem('must name its servers as host:port, separated by commas');
  }
  return { host, port: Number(port) };
}

function readUser(user: string | undefined): Credentials {
  if (user === undefined) return {};
  const [username = '', ...rest] = user.split(':');
  if (rest.length !== 1) {
    throw new RedisUrlProblem('must have user:password@ or :password@ before its servers');
  }
  return credentials(decode(username), decode(rest[0] ?? ''));
}

function readSentinelUser({ sentinelUsername, sentinelPassword }: Options): Credentials {
  return credentials(sentinelUsername ?? '', sentinelPassword ?? '');
}

const credentials = (username: string, password: string): Credentials => ({
  ...(username !== '' && { username }),
  ...(password !== '' && { password }),
});

/** Reads `/db`, or `/group/db` in a Sentinel URL without `sentinelMasterId`. */
function readPath(path: string, form: RedisAddress['form'], masterId: string | undefined) {
  const steps = path.split('/').filter(Boolean).map(decode);
  const groupName = form === 'sentinel' ? (masterId ?? steps.shift()) : undefined;
  if (form === 'sentinel' && groupName === undefined) {
    throw new RedisUrlProblem(
      'must name the group that the sentinels watch, as in redis-sentinel://host1,host2,host3/mymaster',
    );
  }
  const [db = '0', ...extraSteps] = steps;
  if (extraSteps.length > 0 || !/^\d{1,5}$/.test(db)) {
    throw new RedisUrlProblem('must end with a database number, or have no number');
  }
  if (form === 'cluster' && db !== '0') {
    throw new RedisUrlProblem('must not choose a database: a Cluster has only database 0');
  }
  return { db: Number(db), ...(groupName !== undefined && { groupName }) };
}

type Options = Readonly<Partial<Record<Option, string>>>;

function readOptions(query: string): Options {
  const pairs = query.split('&').filter(Boolean);
  const options = pairs.map((pair): [Option, string] => {
    const [name = '', ...value] = pair.split('=');
    const known = OPTIONS.find((option) => normalized(option) === normalized(name));
    // `name` can be part of an unescaped password, so the message must not contain `name`.
    if (!known) throw new RedisUrlProblem(`must have no options except ${OPTIONS.join(', ')}`);
    return [known, decode(value.join('='))];
  });
  return Object.fromEntries(options);
}

const normalized = (name: string) => name.replaceAll('_', '').toLowerCase();

function readTls(isOn: boolean, options: Options): RedisTls | undefined {
  const { tlsCAFile: caFile, tlsCertFile: certFile, tlsKeyFile: keyFile } = options;
  const hasFiles = [caFile, certFile, keyFile].some((file) => file !== undefined);
  if (!isOn && hasFiles) throw new RedisUrlProblem('must start with rediss if it names TLS files');
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new RedisUrlProblem('must have both tlsCertFile and tlsKeyFile, or neither');
  }
  if (!isOn) return undefined;
  return { ...(caFile && { caFile }), ...(certFile && keyFile && { certFile, keyFile }) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RedisUrlProblem(ESCAPE);
  }
}

const isIpv6 = (host: string) => host.includes(':');
