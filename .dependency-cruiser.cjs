/**
 * Imports go one way. Each room imports itself, the rooms above it in this list, and nothing below;
 * the rooms of one row do not know each other. A file right in src is a composition root.
 */
const ROWS = [
  // PURE: what an operation does to a matter; how files of other tools are read (encodings, tables, times).
  ['domain', 'files'],
  // The wire, written once: schemas, errors, paths, signature.
  ['protocol'],
  // The calls that report metrics and spans; who exports them is not known here.
  ['telemetry'],
  ['concurrency'],
  ['runtime'],
  ['storage', 'queue'],
  ['observability', 'signature-diagnosis', 'auth'],
  ['pushes', 'queries'],
  // status: what `matterctl status` and the operator's screen show.
  ['openapi', 'status'],
  ['http'],
  // What src/web.ts wires beside the way of a push: a part of that composition root.
  ['web', 'operator'],
];

const below = ROWS.flatMap((row, n) => row.map((room) => [room, ROWS.slice(0, n).flat()]));

/** What exports metrics and spans, and the operator's page, is loaded only where it is switched on. */
const EXPORTERS = {
  metrics: ['^src/observability/metrics/(?!options\\.|start\\.)', 'prom-client'],
  tracing: ['^src/observability/tracing/(?!options\\.|start\\.)', '@opentelemetry'],
  operator: ['^src/operator/(?!open\\.|parts\\.|queue-history\\.)', '^src/operator/app\\.'],
};

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...below.map(([room, allowed]) => ({
      name: `${room}-imports-only-${allowed.at(-1) ?? 'itself'}-and-above`,
      severity: 'error',
      from: { path: `^src/${room}/` },
      to: {
        path: '^(src|workers|tools)/',
        pathNot: [room, ...allowed].map((it) => `^src/${it}/`),
      },
    })),
    {
      name: 'the-service-knows-no-tools',
      severity: 'error',
      from: { path: '^(src|workers)/' },
      to: { path: '^tools/' },
    },
    {
      name: 'nothing-knows-workers',
      severity: 'error',
      from: { path: '^(src|tools)/' },
      to: { path: '^workers/' },
    },
    {
      name: 'workers-know-no-http',
      severity: 'error',
      from: { path: '^workers/' },
      to: { path: '^src/(http|auth|pushes|queries|openapi|signature-diagnosis)/' },
    },
    {
      name: 'domain-is-pure',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { pathNot: ['^src/domain/', '^node:zlib$', '^zlib$'] },
    },
    {
      name: 'the-harness-knows-nothing-that-stands-on-it',
      severity: 'error',
      from: { path: '^tools/harness/' },
      to: { path: '^tools/', pathNot: ['^tools/(harness|local|client)/'] },
    },
    {
      name: 'bench-and-chaos-do-not-know-each-other',
      severity: 'error',
      from: { path: '^tools/(bench|chaos)/' },
      to: { path: '^tools/(bench|chaos)/', pathNot: ['^tools/$1/'] },
    },
    {
      // It goes into other packages: nothing of the service goes with it but the wire.
      name: 'the-client-knows-only-the-wire',
      severity: 'error',
      from: { path: '^tools/client/' },
      to: { path: '^(src|tools|workers)/', pathNot: ['^tools/client/', '^src/(protocol|domain)/'] },
    },
    {
      name: 'only-composition-roots-read-config',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(runtime|web)/' },
      to: { path: '^src/runtime/config\\.' },
    },
    ...Object.entries(EXPORTERS).map(([name, [room, library]]) => ({
      // Who switched it off pays for it neither in time to start nor in memory.
      name: `${name}-is-loaded-only-if-asked-for`,
      severity: 'error',
      from: { pathNot: room },
      to: { path: [room, library], dynamic: false },
    })),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
