/** Where tracing is on, what the library would misread in silence ends the start, and is named. */
import { ConfigError, readConfig } from '../../../../src/infra/config';

const REQUIRED = {
  MONGO_URL: 'mongodb://h/db',
  REDIS_URL: 'redis://h',
  SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};
const problems = (env: Record<string, string>): string[] => {
  try {
    readConfig({ ...REQUIRED, ...env });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n').slice(1);
  }
};

const WRONG: readonly (readonly [name: string, value: string])[] = [
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/protobuf'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '0'],
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
  ['OTEL_TRACES_EXPORTER', 'none'],
  ['OTEL_SDK_DISABLED', 'TRUE'],
];

test.each(WRONG)('%s=%s is rejected while tracing is on', (name, value) => {
  const found = problems({ TRACING: 'on', [name]: value });
  expect(found).toEqual([expect.stringMatching(new RegExp(`^ {2}${name}: must`))]);
});

test('they are told together, and with those of other settings', () => {
  const env = { TRACING: 'on', PORT: 'http', ...Object.fromEntries(WRONG) };
  expect(problems(env)).toHaveLength(WRONG.length + 1);
});

test('off, they are for somebody else', () => {
  expect(problems(Object.fromEntries(WRONG))).toEqual([]);
  expect(problems({ TRACING: 'off', ...Object.fromEntries(WRONG) })).toEqual([]);
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://user:word@collector.example:4318/base'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json'],
  ['OTEL_TRACES_SAMPLER', 'parentbased_traceidratio'],
  ['OTEL_TRACES_SAMPLER_ARG', '0.25'],
  ['OTEL_TRACES_EXPORTER', 'otlp'],
  ['OTEL_SDK_DISABLED', 'false'],
  ['OTEL_SDK_DISABLED', ''],
])('%s=%s is taken', (name, value) => {
  expect(problems({ TRACING: 'on', [name]: value })).toEqual([]);
});

test('TRACING is on or off', () => {
  expect(problems({ TRACING: 'true' })).toEqual([expect.stringMatching(/^ {2}TRACING: .*on.*off/)]);
});
