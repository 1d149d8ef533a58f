/** Reads the settings from the environment and from setting files, and validates all settings. */
import path from 'node:path';
import { z } from 'zod';
import { mongoUrlProblem } from './mongo-url';
import { redisUrlProblem } from './redis/url';
import { type Environment, readSettingFiles } from './setting-files';
import {
  durationOrOffSetting,
  durationSetting,
  plainUrl,
  secretKeys,
  statuses,
  timeZone,
  wholeNumberSetting,
} from './settings/forms';
import { tracingProblems } from './settings/tracing';

const DEFAULT_CONCLUDED_STATUSES =
  'DONE,COMPLETED,FINISHED,APPROVED,REJECTED,CANCELLED,CANCELED,WITHDRAWN,REVOKED,TERMINATED,CLOSED,EXPIRED';

const schema = z.object({
  HOST: z.string().default('0.0.0.0'),
  /** Port of the web process; 0: a free port. */
  PORT: wholeNumberSetting(0, 65_535).default(3000),
  /** URL of a MongoDB replica set or sharded cluster. */
  MONGO_URL: z.string().superRefine((url, context) => {
    const message = mongoUrlProblem(url);
    if (message) context.addIssue({ code: 'custom', message });
  }),
  /** URL of Redis: one server, a Sentinel group or a Cluster; see docs/installation.md. */
  REDIS_URL: z.string().superRefine((url, context) => {
    const message = redisUrlProblem(url);
    if (message) context.addIssue({ code: 'custom', message });
  }),
  /** Prefix of all keys and channels in Redis. Deployments that share one Redis need different prefixes. */
  REDIS_NAMESPACE: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must consist of 1 to 64 letters, digits, underscores or hyphens')
    .default('matter-push'),
  /** Number of shards of the queue. The default for a Redis Cluster is 8. */
  REDIS_SHARDS: wholeNumberSetting(1, 64).default(1),
  /** Number of partitions of each shard. */
  REDIS_PARTITIONS: wholeNumberSetting(1, 1_024).default(64),
  /** Folder in which `npm start` stores data, logs and endpoints.json. */
  DATA_DIR: z.string().default('.data'),
  /** How long `web` keeps an idle HTTP connection open. Must be longer than the idle timeout of the load balancer. */
  KEEP_ALIVE_TIMEOUT: durationSetting(1_000, 3_600_000).default(65_000),
  /** Keys for the encryption of client secrets and query keys. The first key encrypts; all keys decrypt. */
  SECRET_KEYS: secretKeys,
  /** Maximum bytes of a request body, except for batches. */
  BODY_LIMIT: wholeNumberSetting(1_024, 16 * 1024 * 1024).default(1024 * 1024),
  /** `always-200`: every answer of the API has HTTP status 200; only `code` in the body shows an error. */
  HTTP_STATUS_MODE: z.enum(['code', 'always-200']).default('code'),
  /** Default time zone for times in requests. */
  PORTAL_TIME_ZONE: timeZone.default('Asia/Shanghai'),
  /** A matter with one of these `bizStatus` values has the phase CONCLUDED. */
  CONCLUDED_STATUSES: statuses.default(DEFAULT_CONCLUDED_STATUSES.split(',')),
  /** How long the caller of a push waits for the confirmed write. */
  PUSH_TIMEOUT: durationSetting(100, 120_000).default(10_000),
  /** Maximum lines of one batch request. */
  BATCH_MAX_ITEMS: wholeNumberSetting(1, 1_000).default(1_000),
  /** Maximum bytes of the request body of a batch. */
  BATCH_BODY_LIMIT: wholeNumberSetting(1_024, 16 * 1024 * 1024).default(8 * 1024 * 1024),
  /** How long the caller of a batch waits for the confirmed writes. */
  BATCH_TIMEOUT: durationSetting(100, 120_000).default(30_000),
  /**
   * The signature does not cover the path or the idempotency key. After this time, the service rejects a signature
   * with a different path or key. `off`: no limit.
   */
  SIGNATURE_GRACE: durationOrOffSetting(0, 600_000).default(30_000),
  /** Default limit of pushes per second for each client; 0: no limit. */
  RATE_LIMIT: wholeNumberSetting(0, 1_000_000).default(0),
  /** Default number of pushes that a client with a rate limit may send at once. */
  RATE_BURST: wholeNumberSetting(1, 1_000_000).default(400),
  /** Limit of requests per second for each query key. */
  QUERY_KEY_RATE: wholeNumberSetting(1, 1_000_000).default(20),
  /** `on`: a retry with the same idempotency key and body gets the first result; `off`: workers apply the retry. */
  IDEMPOTENT_REPLAY: z.enum(['on', 'off']).default('on'),
  PUSH_LOG_RETENTION: durationSetting(86_400_000, 3650 * 86_400_000).default(30 * 86_400_000),
  /** How long the push log keeps bodies; 0: bodies are not stored. */
  PUSH_BODY_RETENTION: durationSetting(0, 3650 * 86_400_000).default(7 * 86_400_000),
  /** Maximum requests that one web process handles at a time; further requests get 503. */
  MAX_IN_FLIGHT: wholeNumberSetting(1, 100_000).default(5_000),
  /** Maximum pushes in one partition; `web` answers further pushes with 503. */
  PARTITION_LIMIT: wholeNumberSetting(1, 1_000_000).default(10_000),
  /** Maximum bytes of one partition in Redis; `web` answers further pushes with 503. */
  PARTITION_BYTES: wholeNumberSetting(1_048_576, 17_179_869_184).default(16_777_216),
  /** Maximum pushes that a worker applies in one batch. */
  BATCH_LIMIT: wholeNumberSetting(1, 1_000).default(640),
  /** How long a stopping `web` still accepts requests. */
  DRAIN_DELAY: durationSetting(0, 120_000).default(5_000),
  /** Time limit of a shutdown; includes DRAIN_DELAY. */
  DRAIN_TIMEOUT: durationSetting(1_000, 300_000).default(40_000),
  /** Internal port for metrics, health and the operator page; 0: no internal port. */
  METRICS_PORT: wholeNumberSetting(0, 65_535).default(0),
  METRICS_HOST: z.string().default('127.0.0.1'),
  /** `on`: the process exports spans to an OpenTelemetry collector. The standard OTEL_ variables apply. */
  TRACING: z.enum(['on', 'off']).default('off'),
  /** Token for changes on the operator page; empty: the page is read-only. */
  OPERATOR_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{32,256}$/, 'must be 32 to 256 printable ASCII characters, no spaces')
    .default(''),
  /** `off`: no reference page at /docs and no console at /console. */
  PAGES: z.enum(['on', 'off']).default('on'),
  /** `on`: the reference page shows the secret of the demo client. */
  DOCS_DEMO: z.enum(['on', 'off']).default('off'),
  /** Public URL of the service. */
  PUBLIC_URL: plainUrl.default(''),
  LOG_REQUESTS: z.enum(['on', 'off']).default('off'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

const drainTimeoutRule = (wait: 'PUSH_TIMEOUT' | 'BATCH_TIMEOUT') =>
  ({
    path: ['DRAIN_TIMEOUT'],
    message: `must be longer than DRAIN_DELAY plus ${wait}, because a stopping process must answer all accepted pushes`,
    when: ({ issues }) =>
      !issues.some(({ path }) =>
        [wait, 'DRAIN_DELAY', 'DRAIN_TIMEOUT'].includes(String(path?.[0])),
      ),
  }) satisfies z.core.$ZodCustomParams;

const consistent = schema
  .refine(
    (config) => config.DRAIN_TIMEOUT > config.DRAIN_DELAY + config.PUSH_TIMEOUT,
    drainTimeoutRule('PUSH_TIMEOUT'),
  )
  .refine(
    (config) => config.DRAIN_TIMEOUT > config.DRAIN_DELAY + config.BATCH_TIMEOUT,
    drainTimeoutRule('BATCH_TIMEOUT'),
  )
  .refine((config) => config.OPERATOR_TOKEN === '' || config.METRICS_PORT !== 0, {
    path: ['OPERATOR_TOKEN'],
    message: 'needs METRICS_PORT: the token is used on that port',
    when: ({ issues }) =>
      !issues.some(({ path }) => ['METRICS_PORT', 'OPERATOR_TOKEN'].includes(String(path?.[0]))),
  });

export type Config = Readonly<z.infer<typeof schema>>;
export type { Environment } from './setting-files';

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The burst is larger than the rate, because a page of the console sends many requests at once. */
export const queryKeyRate = ({ QUERY_KEY_RATE: rate }: Config) => ({ rate, burst: 5 * rate });

export const demoClientFile = ({ DATA_DIR }: Config) => path.join(DATA_DIR, 'demo-client.json');

/**
 * An empty variable counts as absent.
 *
 * @throws ConfigError that names every missing or invalid variable
 */
export function readConfig(env: Environment): Config {
  const nonEmpty = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const files = readSettingFiles(nonEmpty);
  const present = { ...defaultsForRedisUrl(files.env.REDIS_URL), ...files.env };
  const parsed = consistent.safeParse(present, { error: requiredMessage });
  const issues = (parsed.error?.issues ?? []).filter(
    ({ path }) => !files.unknown.has(String(path[0])),
  );
  const lines = [
    ...files.problems.map(([name, problem]) => `  ${name}: ${problem}`),
    ...issues.map(({ path: [name], message }) => {
      return `  ${String(name)}: ${message}${files.describeFile(String(name))}`;
    }),
    ...tracingProblems(present).map(([name, problem]) => `  ${name}: ${problem}`),
  ];
  if (parsed.success && lines.length === 0) return parsed.data;
  throw new ConfigError(`The configuration has problems:\n${lines.join('\n')}`);
}

const defaultsForRedisUrl = (redisUrl = ''): Environment =>
  /^rediss?[-+]cluster:/.test(redisUrl) ? { REDIS_SHARDS: '8' } : {};

export function redactConfig(config: Config): Record<string, unknown> {
  return {
    ...config,
    SECRET_KEYS: config.SECRET_KEYS.map((key) => `${key.split(':')[0]}:[redacted]`),
    OPERATOR_TOKEN: config.OPERATOR_TOKEN && '[redacted]',
    MONGO_URL: withoutPassword(config.MONGO_URL),
    REDIS_URL: withoutPassword(config.REDIS_URL),
  };
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/.*@/, '//[redacted]@').replace(/\?.*$/, '?[redacted]');
}

function requiredMessage(issue: { code?: string; input?: unknown }): string | undefined {
  return issue.input === undefined ? 'is required' : undefined;
}
