/**
 * Imports go one way. A folder imports itself and the folders above it in this list. Folders in one row do not import
 * each other. A file right in src is a composition root.
 */
const ROWS = [
  // PURE: what an operation does to a matter; how files of other tools are read (encodings, tables, times).
  ['domain', 'files'],
  // What clients send and receive: schemas, errors, paths, signature.
  ['protocol'],
  ['concurrency'],
  ['infra'],
  // The calls that report metrics and spans, and their exporters.
  ['observability'],
  ['storage', 'queue'],
  ['signature-diagnosis', 'auth'],
  ['pushes', 'queries'],
  // status: what `matterctl status` and the operator page show.
  ['openapi', 'status'],
  ['http'],
  // Parts of the composition roots.
  ['web', 'operator'],
];

const below = ROWS.flatMap((row, n) => row.map((room) => [room, ROWS.slice(0, n).flat()]));

/** The code that exports metrics and spans, and the operator page, is loaded only if its setting switches it on. */
const EXPORTERS = {
  metrics: ['^src/observability/metrics/', 'prom-client'],
  tracing: ['^src/observability/tracing/', '@opentelemetry'],
  operator: ['^src/operator/(?!operator\\.|queue-history\\.)', '^src/operator/app\\.'],
};

/** The browser code: each folder, and what it may import. */
const BROWSER = {
  docs: [],
  operator: ['console/kit'],
  'console/kit': [],
  'console/read': ['console/kit'],
  'console/send': ['console/kit', 'console/read'],
  'console/screens': ['console/kit', 'console/read', 'console/send'],
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
      to: {
        path: '^src/(http|auth|pushes|queries|openapi|signature-diagnosis)/',
        // Both sides of idempotency are in one file.
        pathNot: '^src/pushes/idempotency\\.',
      },
    },
    {
      name: 'pushes-has-three-entries',
      severity: 'error',
      from: { path: '^(src|workers|tools)/', pathNot: '^src/pushes/' },
      to: { path: '^src/pushes/(?!(pushes|idempotency|resend)\\.)' },
    },
    {
      // The entries are the files right in src/storage. Tools load the exceptions without the database driver.
      name: 'storage-has-entries',
      severity: 'error',
      from: { path: '^(src|workers|tools)/', pathNot: '^src/storage/' },
      to: {
        path: '^src/storage/[^/]+/',
        pathNot: '^src/storage/(directory/(sealing|rate-override)|push-log/request-id)\\.',
      },
    },
    {
      // metrics.ts and tracing.ts: the calls of components; observability.ts: starts the exporters.
      name: 'observability-has-three-entries',
      severity: 'error',
      from: { path: '^(src|workers|tools)/', pathNot: '^src/observability/' },
      to: { path: '^src/observability/(?!(observability|metrics|tracing)\\.)' },
    },
    {
      // Of the commands, those of a whole process are entries. Chaos replaces private parts; the benchmark simulates them.
      name: 'queue-has-its-entries',
      severity: 'error',
      from: {
        path: '^(src|workers|tools)/',
        pathNot: ['^src/queue/', '^tools/chaos/breaks\\.', '^tools/bench/'],
      },
      to: {
        path: '^src/queue/',
        pathNot: [
          '^src/queue/(producer|consumer|echo|heartbeat|keys|probe)\\.',
          '^src/queue/commands/(agreements|partitions|read-waiting|worker-number|worker-reach)\\.',
          '^src/queue/inspect/',
        ],
      },
    },
    {
      name: 'http-has-five-entries',
      severity: 'error',
      from: { path: '^(src|workers|tools)/', pathNot: '^src/http/' },
      to: { path: '^src/http/(?!(app|server|health|documents|pages)\\.)' },
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
      // Its package has no dependencies.
      name: 'the-client-needs-no-package',
      severity: 'error',
      from: { path: '^tools/client/' },
      to: { path: 'node_modules/', pathNot: 'node_modules/@types/node/' },
    },
    {
      // Other packages contain it, so it imports only what clients send and receive.
      name: 'the-client-knows-only-the-wire',
      severity: 'error',
      from: { path: '^tools/client/' },
      to: { path: '^(src|tools|workers)/', pathNot: ['^tools/client/', '^src/(protocol|domain)/'] },
    },
    ...Object.entries(BROWSER).map(([room, allowed]) => ({
      name: `${room.replaceAll('/', '-')}-imports-only-${allowed.length === 0 ? 'itself' : 'what-is-below'}`,
      severity: 'error',
      from: { path: `^browser/${room}/` },
      to: { path: '^browser/', pathNot: [room, ...allowed].map((it) => `^browser/${it}/`) },
    })),
    {
      // A page imports predicates, pure functions and types, so that its bundle contains no zod, luxon or driver.
      name: 'pages-import-only-pure-modules',
      severity: 'error',
      from: { path: '^browser/', pathNot: 'shapes[^/]*\\.ts$' },
      to: {
        path: '^(src|workers|tools)/|node_modules/',
        pathNot: [
          '^src/(domain|files|queries/reconcile)/',
          '^src/protocol/(field-rules|look-alike|time)\\.',
          '^src/queries/(compare|day-calendar)\\.',
          'node_modules/(preact|@preact|@noble)/',
        ],
      },
    },
    {
      name: 'the-service-knows-no-page',
      severity: 'error',
      from: { path: '^(src|workers|tools)/' },
      to: { path: '^browser/' },
    },
    {
      name: 'only-composition-roots-read-config',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(infra|web)/' },
      to: { path: '^src/infra/config\\.' },
    },
    ...Object.entries(EXPORTERS).map(([name, [room, library]]) => ({
      // If its setting is off, it costs neither start time nor memory.
      name: `${name}-is-loaded-only-if-asked-for`,
      severity: 'error',
      from: { pathNot: [room, '^browser/'] },
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
