/** Data goes one way: contract → ingress → queue → workers → domain → ledger and push log → reply. */
const only = (room, allowed) => ({
  name: `${room}-reaches-only-its-neighbours`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^(src|workers)/', pathNot: [`^src/${room}/`, ...allowed.map((it) => `^src/${it}`)] },
});

const BASICS = [
  'clock\\.',
  'errors\\.',
  'warnings\\.',
  'language\\.',
  'logger\\.',
  'folded-log\\.',
  'outages\\.',
  'process-name\\.',
  'batcher\\.',
  'durations\\.',
  'poll-loop\\.',
  'mongo\\.',
  // What tells of the work; what becomes of that, nobody needs to know.
  'metrics/metrics\\.',
  'processes/flow\\.',
  'tracing/tracing\\.',
  'etag\\.',
];

/** All of the room but the calls that the core makes, and the switch. */
const KEPT_METRICS = '^src/metrics/(?!metrics\\.|options\\.|start\\.)';

const KEPT_TRACING = '^src/tracing/(?!tracing\\.|options\\.|start\\.|settings\\.)';
/** The same of the board. */
const SHOWN_BOARD = '^src/board/(?!options\\.|open\\.)';

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'nothing-in-src-knows-workers',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^workers/' },
    },
    {
      name: 'domain-is-pure',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { pathNot: ['^src/domain/', '^node:zlib$', '^zlib$'] },
    },
    only('contract', ['domain/', 'errors\\.', 'warnings\\.', 'language\\.']),
    only('directory', BASICS),
    only('audit', BASICS),
    only('ledger', ['domain/', ...BASICS]),
    only('push-log', ['domain/', ...BASICS]),
    // The queue knows keys and payloads: the shape of an operation, not what it means.
    only('queue', ['domain/group\\.', 'domain/operation\\.', ...BASICS]),
    // What went wrong with a signature is read from the log and told with secrets; nothing is changed.
    only('signature-diagnosis', [
      'contract/',
      'domain/operation\\.',
      'directory/held-secrets\\.',
      'push-log/(entry-model|sent-signature)\\.',
      'mutex\\.',
      ...BASICS,
    ]),
    only('presenters', ['contract/', 'domain/', 'ledger/', 'push-log/', ...BASICS]),
    only('reconcile', [
      'contract/',
      'domain/',
      'signature-diagnosis/',
      'ledger/',
      'push-log/',
      'presenters/',
      ...BASICS,
    ]),
    only('processes', [
      'contract/(paths|version)\\.',
      'domain/operation\\.',
      'lifecycle\\.',
      'queue/(keys|redis)\\.',
      ...BASICS,
    ]),
    only('board', ['queue/', ...BASICS]),
    only('metrics', ['contract/paths\\.', 'domain/', 'clock\\.', 'errors\\.']),
    only('tracing', []),
    only('openapi', [
      'contract/',
      'signature-diagnosis/',
      'domain/',
      'presenters/',
      'reconcile/',
      'errors\\.',
      'warnings\\.',
      'language\\.',
      'etag\\.',
    ]),
    only('ingress', [
      'contract/',
      'domain/',
      'directory/',
      'push-log/',
      'queue/',
      'reconcile/',
      ...BASICS,
    ]),
    // What src/web.ts wires beside the way of a push.
    only('web', [
      'contract/',
      'directory/',
      'signature-diagnosis/',
      'ingress/',
      'ledger/',
      'openapi/',
      'push-log/',
      'queue/',
      'reconcile/',
      'config\\.',
      'mutex\\.',
      ...BASICS,
    ]),
    only('cli', [
      'contract/',
      'domain/',
      'audit/',
      'directory/',
      'signature-diagnosis/',
      'ledger/',
      'push-log/',
      'presenters/',
      'reconcile/',
      'client/',
      'mutex\\.',
      'ingress/signature\\.',
      // A resend is a web process whose requests come from the log.
      'ingress/(resend-push|settle-push|finalize-push|validate-push|lost-replies)\\.',
      'queue/',
      'processes/',
      'config\\.',
      'mongo-url\\.',
      ...BASICS,
    ]),
    // Of use to other packages: it takes nothing of the service with it.
    only('client', ['contract/', 'domain/', 'ingress/signature\\.', 'errors\\.', 'warnings\\.']),
    only('embedded', ['config\\.']),
    {
      // Whoever keeps no metrics shall not pay for them: neither in time to start nor in memory.
      name: 'metrics-are-loaded-only-if-asked-for',
      severity: 'error',
      from: { pathNot: KEPT_METRICS },
      to: { path: [KEPT_METRICS, 'prom-client'], dynamic: false },
    },
    {
      // The same for traces: the library alone is dozens of files.
      name: 'tracing-is-loaded-only-if-asked-for',
      severity: 'error',
      from: { pathNot: KEPT_TRACING },
      to: { path: [KEPT_TRACING, '@opentelemetry'], dynamic: false },
    },
    {
      name: 'the-board-is-loaded-only-if-asked-for',
      severity: 'error',
      from: { pathNot: SHOWN_BOARD },
      to: { path: [SHOWN_BOARD, '@bull-board'], dynamic: false },
    },
    {
      name: 'only-composition-roots-read-config',
      severity: 'error',
      from: {
        path: '^src/(contract|signature-diagnosis|domain|directory|audit|ledger|push-log|queue|presenters|reconcile|ingress|openapi|metrics|board|tracing|client)/',
      },
      to: { path: '^src/config\\.' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
