/** The only reader of the environment. Every problem is reported at once, before anything starts. */
import path from 'node:path';
import { z } from 'zod';
import { mongoUrlProblem } from './mongo-url';
import { redisUrlProblem } from './redis-url';
import { type Environment, readSettingFiles } from './setting-files';
import { plainUrl, secretKeys, span, spanOrOff, statuses, timeZone, whole } from './setting-forms';
import { tracingProblems } from './tracing-settings';

const CONCLUDED =
  'DONE,COMPLETED,FINISHED,APPROVED,REJECTED,CANCELLED,CANCELED,WITHDRAWN,REVOKED,TERMINATED,CLOSED,EXPIRED';

const schema = z.object({
  /** Address that the web process listens on. */
  HOST: z.string().default('0.0.0.0'),
  /** Port of the web process; 0 takes a free one. */
  PORT: whole(0, 65_535).default(3000),
  /** A replica set: the ledger needs transactions. */
  MONGO_URL: z.string().superRefine((url, context) => {
    const message = mongoUrlProblem(url);
    if (message) context.addIssue({ code: 'custom', message });
  }),
  /** One server, a Sentinel group or a Cluster; see docs/operations.md. */
  REDIS_URL: z.string().superRefine((url, context) => {
    const message = redisUrlProblem(url);
    if (message) context.addIssue({ code: 'custom', message });
  }),
  /** Files that hold MONGO_URL, REDIS_URL, SECRET_KEYS and OPERATOR_TOKEN, in place of the values. */
  MONGO_URL_FILE: z.string().default(''),
  REDIS_URL_FILE: z.string().default(''),
  SECRET_KEYS_FILE: z.string().default(''),
  OPERATOR_TOKEN_FILE: z.string().default(''),
  /** Keeps deployments that share a Redis apart. */
  REDIS_NAMESPACE: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 _ -')
    .default('matter-push'),
  /** Parts of the queue, each in one place of Redis; 8 for a Cluster where it is not set. */
  REDIS_SHARDS: whole(1, 64).default(1),
  /** Folder of `npm start` for data, logs and endpoints.json. */
  DATA_DIR: z.string().default('.data'),
  /** How long an idle connection of a client is kept: longer than the load balancer keeps it. */
  KEEP_ALIVE_TIMEOUT: span(1_000, 3_600_000).default(65_000),
  /** Keys that seal the clients' secrets at rest. */
  SECRET_KEYS: secretKeys,
  /** Largest request body in bytes. */
  BODY_LIMIT: whole(1_024, 16 * 1024 * 1024).default(1024 * 1024),
  /** `always-200` answers every request with status 200; the code is in the envelope. */
  HTTP_STATUS_MODE: z.enum(['code', 'always-200']).default('code'),
  /** Zone in which local date-times of the callers are read. */
  PORTAL_TIME_ZONE: timeZone.default('Asia/Shanghai'),
  /** Values of bizStatus that conclude a matter. */
  CONCLUDED_STATUSES: statuses.default(CONCLUDED.split(',')),
  /** How long a caller waits for the confirmed write. */
  PUSH_TIMEOUT: span(100, 120_000).default(10_000),
  /** Lines of one batch. */
  BATCH_MAX_ITEMS: whole(1, 1_000).default(1_000),
  /** Bytes of one batch. */
  BATCH_BODY_LIMIT: whole(1_024, 16 * 1024 * 1024).default(8 * 1024 * 1024),
  /** How long the caller of a batch waits for the confirmed writes. */
  BATCH_TIMEOUT: span(100, 120_000).default(30_000),
  /** How long a signature is good for something else than its first use, too; `off`: for ever. */
  SIGNATURE_GRACE: spanOrOff(0, 600_000).default(30_000),
  /** Pushes per second and client, of those without a rate of their own; 0: no limit. */
  RATE_LIMIT: whole(0, 1_000_000).default(0),
  /** Pushes that a client may send at once above its rate. */
  RATE_BURST: whole(1, 1_000_000).default(400),
  /** Requests per second of each query key. */
  QUERY_KEY_RATE: whole(1, 1_000_000).default(20),
  /** Requests that a query key may send at once above its rate. */
  QUERY_KEY_BURST: whole(1, 1_000_000).default(100),
  /** `off` applies a repeated idempotency key again instead of answering with the first outcome. */
  IDEMPOTENT_REPLAY: z.enum(['on', 'off']).default('on'),
  /** How long push-log entries are kept; a retry is answered from them for 24 h. */
  PUSH_LOG_RETENTION: span(86_400_000, 3650 * 86_400_000).default(30 * 86_400_000),
  /** How long bodies of logged pushes are kept, at most as long as their entries; 0: not at all. */
  PUSH_BODY_RETENTION: span(0, 3650 * 86_400_000).default(7 * 86_400_000),
  /** Pushes that one web process may have in flight; beyond it callers get 503. */
  MAX_IN_FLIGHT: whole(1, 100_000).default(5_000),
  /** Pushes that one partition may hold; beyond it callers get 503. */
  PARTITION_LIMIT: whole(1, 1_000_000).default(10_000),
  /** Bytes of pushes that one partition may hold in Redis; beyond it callers get 503. */
  PARTITION_BYTES: whole(1_048_576, 17_179_869_184).default(16_777_216),
  /** Pushes that a worker processes in one batch. */
  BATCH_LIMIT: whole(1, 1_000).default(640),
  /** How long a stopping web process still takes requests while it says that it is not ready. */
  DRAIN_DELAY: span(0, 120_000).default(5_000),
  /** How long a stopping process may take, with that, to finish what is in flight. */
  DRAIN_TIMEOUT: span(1_000, 300_000).default(40_000),
  /** Internal port that tells metrics; 0: none are kept. */
  METRICS_PORT: whole(0, 65_535).default(0),
  /** Address of that port. */
  METRICS_HOST: z.string().default('127.0.0.1'),
  /** `on`: spans go to a collector. The OTEL_ settings below are read by its library. */
  TRACING: z.enum(['on', 'off']).default('off'),
  /** Base URL of the collector's OTLP over HTTP. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().default('http://localhost:4318'),
  /** Which traces are recorded. */
  OTEL_TRACES_SAMPLER: z.string().default('parentbased_always_on'),
  /** Part of the traces that the samplers with a ratio take. */
  OTEL_TRACES_SAMPLER_ARG: z.string().default('1'),
  /** Who has it may pause and resume clients on that port; none: nobody may, there. */
  OPERATOR_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{32,256}$/, 'must be 32 to 256 printable ASCII characters, no spaces')
    .default(''),
  /** `off`: no reference page at /docs. */
  DOCS_PAGE: z.enum(['on', 'off']).default('on'),
  /** `off`: no console at /console. */
  CONSOLE_PAGE: z.enum(['on', 'off']).default('on'),
  /** `on`: the page gives away the secret of the demo client in DATA_DIR; npm start sets it. */
  DOCS_DEMO: z.enum(['on', 'off']).default('off'),
  /** Where clients and people reach the service: its path is part of links in answers and of `matterctl client console`. */
  PUBLIC_URL: plainUrl.default(''),
  /** `on`: `web` logs one line for each request. */
  LOG_REQUESTS: z.enum(['on', 'off']).default('off'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

/**
 * Settings that have another name now: nothing reads the old one, so a process that has it does not
 * start.
 */
const RENAMED = { LANE_LIMIT: 'PARTITION_LIMIT', LANE_BYTES: 'PARTITION_BYTES' };

/** What was accepted as the port closed is answered within this time, which a drain must leave. */
const drainLeaves = (wait: 'PUSH_TIMEOUT' | 'BATCH_TIMEOUT') =>
  ({
    path: ['DRAIN_TIMEOUT'],
    message: `must be longer than DRAIN_DELAY and ${wait} together, so that a stop answers what was accepted`,
    when: ({ issues }) =>
      !issues.some(({ path }) => [wait, 'DRAIN_DELAY'].includes(String(path?.[0]))),
  }) satisfies z.core.$ZodCustomParams;

const consistent = schema
  .refine(
    (config) => config.DRAIN_TIMEOUT > config.DRAIN_DELAY + config.PUSH_TIMEOUT,
    drainLeaves('PUSH_TIMEOUT'),
  )
  .refine(
    (config) => config.DRAIN_TIMEOUT > config.DRAIN_DELAY + config.BATCH_TIMEOUT,
    drainLeaves('BATCH_TIMEOUT'),
  )
  .refine((config) => config.OPERATOR_TOKEN === '' || config.METRICS_PORT !== 0, {
    path: ['OPERATOR_TOKEN'],
    message: 'needs METRICS_PORT: it is asked for on that port',
    when: ({ issues }) =>
      !issues.some(({ path }) => ['METRICS_PORT', 'OPERATOR_TOKEN'].includes(String(path?.[0]))),
  });

export type Config = Readonly<z.infer<typeof schema>>;
export type { Environment } from './setting-files';

/** A start-up failure that the operator can mend; its message lists every bad variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Where `npm start` keeps its demo client, with that one's secret. */
export const demoClientFile = ({ DATA_DIR }: Config) => path.join(DATA_DIR, 'demo-client.json');

/**
 * Reads the settings. An empty variable counts as absent.
 *
 * @throws ConfigError naming every variable that is missing or wrong, and the file that it was read from
 */
export function readConfig(env: Environment): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const files = readSettingFiles(given);
  const present = { ...defaultsOfForm(files.env.REDIS_URL), ...files.env };
  const parsed = consistent.safeParse(present, { error: englishMissing });
  const issues = (parsed.error?.issues ?? []).filter(
    ({ path }) => !files.unknown.has(String(path[0])),
  );
  const lines = [
    ...files.problems.map(([name, problem]) => `  ${name}: ${problem}`),
    ...issues.map(({ path: [name], message }) => {
      return `  ${String(name)}: ${message}${files.sourceOf(String(name))}`;
    }),
    ...Object.entries(RENAMED)
      .filter(([before]) => before in present)
      .map(([before, name]) => `  ${before}: is called ${name} now`),
    ...tracingProblems(present).map(([name, problem]) => `  ${name}: ${problem}`),
  ];
  if (parsed.success && lines.length === 0) return parsed.data;
  throw new ConfigError(`The configuration has problems:\n${lines.join('\n')}`);
}

/** What another form of Redis wants by default. */
const defaultsOfForm = (redisUrl = ''): Environment =>
  /^rediss?[-+]cluster:/.test(redisUrl) ? { REDIS_SHARDS: '8' } : {};

/** The settings as they may be printed: no secrets, no passwords. */
export function redactConfig(config: Config): Record<string, unknown> {
  return {
    ...config,
    SECRET_KEYS: config.SECRET_KEYS.map((key) => `${key.split(':')[0]}:[redacted]`),
    OPERATOR_TOKEN: config.OPERATOR_TOKEN && '[redacted]',
    MONGO_URL: withoutPassword(config.MONGO_URL),
    REDIS_URL: withoutPassword(config.REDIS_URL),
    OTEL_EXPORTER_OTLP_ENDPOINT: withoutPassword(config.OTEL_EXPORTER_OTLP_ENDPOINT),
  };
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/.*@/, '//[redacted]@').replace(/\?.*$/, '?[redacted]');
}

function englishMissing(issue: { code?: string; input?: unknown }): string | undefined {
  return issue.input === undefined ? 'is required' : undefined;
}
