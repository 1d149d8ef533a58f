/** Checks the standard OTEL_ variables, because the OpenTelemetry library replaces invalid values with defaults. */

type Environment = Readonly<Record<string, string | undefined>>;
type Check = readonly [isValid: (value: string) => boolean, problem: string];

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
];
const URL_OF_COLLECTOR: Check = [
  (value) => /^https?:\/\/[^/]/.test(value) && URL.canParse(value),
  'must be a URL with http:// or https://',
];
const PROTOCOL: Check = [
  (value) => value === 'http/json',
  'must be http/json if TRACING is on: the service sends spans as JSON over HTTP, usually to port 4318',
];
const WHOLE: Check = [(value) => /^[1-9]\d{0,8}$/.test(value), 'must be a whole number above 0'];

const CHECKS: Readonly<Record<string, Check>> = {
  OTEL_EXPORTER_OTLP_ENDPOINT: URL_OF_COLLECTOR,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: URL_OF_COLLECTOR,
  OTEL_EXPORTER_OTLP_PROTOCOL: PROTOCOL,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: PROTOCOL,
  OTEL_EXPORTER_OTLP_TIMEOUT: WHOLE,
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: WHOLE,
  OTEL_BSP_MAX_QUEUE_SIZE: WHOLE,
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: WHOLE,
  OTEL_BSP_SCHEDULE_DELAY: WHOLE,
  OTEL_BSP_EXPORT_TIMEOUT: WHOLE,
  OTEL_TRACES_SAMPLER: [
    (value) => SAMPLERS.includes(value),
    `must be one of ${SAMPLERS.join(', ')}`,
  ],
  OTEL_TRACES_SAMPLER_ARG: [
    (value) => /^(0(\.\d+)?|1(\.0+)?)$/.test(value),
    'must be a number from 0 to 1',
  ],
  OTEL_TRACES_EXPORTER: [(value) => value === 'otlp', 'must be otlp if TRACING is on'],
  OTEL_SDK_DISABLED: [
    (value) => value.toLowerCase() !== 'true',
    'must not be true if TRACING is on',
  ],
};

export const CHECKED = Object.keys(CHECKS);

/** @param env the non-empty variables */
export function tracingProblems(env: Environment): (readonly [name: string, problem: string])[] {
  if (env.TRACING !== 'on') return [];
  return Object.entries(CHECKS).flatMap(([name, [isValid, problem]]) => {
    const value = env[name];
    return value === undefined || isValid(value) ? [] : [[name, problem] as const];
  });
}
