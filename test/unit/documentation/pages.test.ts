/** The documentation matches the code: settings, errors, tree, scripts, links. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { IN_FLIGHT_BYTES } from '../../../src/http/body';
import { type Config, ConfigError, readConfig } from '../../../src/infra/config';
import { ALL_REASONS, matterNotFound, PushError } from '../../../src/protocol/errors';
import { SIGNATURE_BYTES, SIGNATURE_MEMORY } from '../../../src/pushes/admission';
import { CONCURRENT_BATCHES } from '../../../src/queue/batch-runner';
import { MAX_BATCH_BYTES } from '../../../src/queue/commands/partitions';
import { NODE_FLAGS } from '../../../tools/local/app-process';
import { readStartSettings } from '../../../tools/local/settings';

const ROOT = join(__dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const exists = (path: string) => existsSync(join(ROOT, path));
const INTEGRATE = 'docs/integrate.md';
const SETTINGS = 'docs/settings.md';
const INSTALLATION = 'docs/installation.md';
const ARCHITECTURE = 'docs/architecture.md';
const ENV_EXAMPLE = read('.env.example');

const REQUIRED_SET = {
  MONGO_URL: 'mongodb://host/db',
  REDIS_URL: 'redis://host',
  SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
};
const DEFAULTS = readConfig(REQUIRED_SET);
const REQUIRED = requiredSettings();
const OPTIONAL = Object.keys(DEFAULTS).filter((name) => !REQUIRED.includes(name));
/** Not a setting of the service's processes. */
const OF_NPM_START = 'WORKERS';

function requiredSettings(): string[] {
  try {
    readConfig({});
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [...error.message.matchAll(/^ {2}(\w+): is required$/gm)].map(([, name = '']) => name);
  }
}

/** The text under a heading of a paper, up to the next one of its level. */
function section(paper: string, title: string): string {
  const [, text] = read(paper).split(`\n## ${title}\n`);
  if (text === undefined) throw new Error(`${paper} has no section "${title}"`);
  return text.split('\n## ')[0] ?? '';
}

/** The rows of the table whose head starts so, as lists of cells without their back quotes. */
function table(text: string, head: string): string[][] {
  const [, rest] = text.split(`\n| ${head} |`);
  if (rest === undefined) throw new Error(`there is no table that starts with "${head}"`);
  const lines = rest.split('\n').slice(2);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
  );
}

function parsed(name: string, text: string): unknown {
  return readConfig({ ...REQUIRED_SET, [name]: text })[name as keyof Config];
}

describe('the settings', () => {
  const rows = new Map(
    table(section(SETTINGS, 'Settings'), 'Variable').map(([name = '', value = '']) => [
      name,
      value,
    ]),
  );
  const examples = new Map(
    [...ENV_EXAMPLE.matchAll(/^(# )?([A-Z_]+)=(.*)$/gm)].map(([, off, name = '', value = '']) => [
      name,
      { on: off === undefined, value },
    ]),
  );

  test('the schema was read', () => {
    expect(REQUIRED).toEqual(['MONGO_URL', 'REDIS_URL', 'SECRET_KEYS']);
    expect(OPTIONAL).toContain('PUSH_TIMEOUT');
  });

  test('the runbook has every variable, and no other', () => {
    expect([...rows.keys()].sort()).toEqual([...REQUIRED, ...OPTIONAL].sort());
  });

  test.each(REQUIRED)('the runbook says that %s is required', (name) => {
    expect(rows.get(name)).toBe('required');
  });

  test.each(OPTIONAL)('the runbook has the default of %s', (name) => {
    expect(parsed(name, rows.get(name) ?? '')).toEqual(DEFAULTS[name as keyof Config]);
  });

  test('the runbook has what npm start takes differently', () => {
    const own = new Map(
      table(section(SETTINGS, 'Settings'), 'Variable | Default under `npm start`').map(
        ([name = '', value = '']) => [name, value],
      ),
    );
    const start = readStartSettings({}, '/project');
    expect(own.get('HOST')).toBe(start.host);
    expect(own.get(OF_NPM_START)).toBe(String(start.workers));
    expect(own.get('DRAIN_DELAY')).toBe(start.drainDelay);
    expect(`/project/${own.get('DATA_DIR')}`).toBe(start.dataDir);
  });

  test('.env.example has every variable, and no other', () => {
    expect([...examples.keys()].sort()).toEqual([...REQUIRED, ...OPTIONAL, OF_NPM_START].sort());
  });

  test('.env.example sets what is required, and shows the defaults of the rest', () => {
    const set = [...examples].filter(([, { on }]) => on).map(([name]) => name);
    expect(set).toEqual(REQUIRED);
    for (const name of OPTIONAL) {
      const shown = examples.get(name)?.value ?? '';
      expect([name, parsed(name, shown)]).toEqual([name, DEFAULTS[name as keyof Config]]);
    }
  });
});

describe('the errors', () => {
  const rows = new Map(
    table(section(INTEGRATE, 'Errors'), 'code').map((cells) => [cells[1] ?? '', cells]),
  );

  test('integrators are told every reason, and no other', () => {
    expect(ALL_REASONS).toContain('CONFIRMATION_TIMEOUT');
    expect([...rows.keys()].sort()).toEqual([...ALL_REASONS].sort());
  });

  test.each(ALL_REASONS)('integrators are told %s word for word', (reason) => {
    const error =
      reason === 'MATTER_NOT_FOUND' || reason === 'MATTER_DELETED'
        ? matterNotFound(reason, '{systemCode}', '{externalId}')
        : new PushError(reason);
    const told = [String(error.code), reason, error.message, error.retryable ? 'yes' : 'no'];
    expect(rows.get(reason)?.slice(0, 4)).toEqual(told);
  });
});

describe('the tree', () => {
  const named = treePaths(section(ARCHITECTURE, 'The tree'));

  test('everything that it names is there', () => {
    expect(named).toContain('src/http/routes/push.ts');
    expect(named.filter((path) => !exists(path))).toEqual([]);
  });

  test.each(['src', 'test'])('it names every folder of %s', (parent) => {
    const folders = readdirSync(join(ROOT, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${parent}/${name}/`);
    expect(folders.filter((folder) => !named.includes(folder))).toEqual([]);
  });
});

/** Paths of a tree that is drawn by indentation; folders end with a slash. */
function treePaths(text: string): string[] {
  const [, drawn = ''] = text.split('```text\n');
  const above: string[] = [];
  return (drawn.split('\n```')[0] ?? '').split('\n').map((line) => {
    const [, indent = '', name = ''] = /^( *)(\S+)/.exec(line) ?? [];
    above.length = indent.length / 2;
    above.push(name);
    return above.join('');
  });
}

describe.each(['Procfile', 'docker-compose.yml', 'Dockerfile', 'README.md'])('%s', (paper) => {
  test('names only scripts that the build makes', () => {
    const scripts = read(paper).match(/dist\/[\w/.-]+\.js/g) ?? [];
    expect(scripts.length).toBeGreaterThan(0);
    const sources = scripts.map((script) => script.replace('dist/', '').replace(/js$/, 'ts'));
    expect([...scripts, ...sources].filter((path) => !exists(path))).toEqual([]);
  });
});

test('Procfile and docker-compose.yml start the same process types in the same way', () => {
  const types = [...read('Procfile').matchAll(/^(\w+): node (?:--\S+ )*(\S+)$/gm)];
  expect(types.map(([, type]) => type)).toEqual(['web', 'worker', 'release']);
  for (const [, type, script] of types) {
    const [, service = ''] = read('docker-compose.yml').split(`\n  ${type}:\n`);
    expect(service.split(/\n {2}\w/)[0]).toContain(`command: ["node", "${script}"]`);
  }
});

test('Procfile, image and npm start give Node the same flags', () => {
  const flags = NODE_FLAGS.join(' ');
  for (const type of ['web', 'worker'])
    expect(read('Procfile')).toContain(`${type}: node ${flags} `);
  expect(read('Dockerfile')).toContain(`\nENV NODE_OPTIONS=${flags}\n`);
});

test('the memory of Redis is that of bodies in web, of batches in workers and of signatures', () => {
  const paper = section(INSTALLATION, 'Deployment').replace(/\s+/g, ' ');
  const compose = read('docker-compose.yml');
  const [, mebibytes, kilobytes] =
    /`maxmemory` of (\d+) MiB for each `web` process and (\d+) KB for each push/.exec(paper) ?? [];
  expect(Number(mebibytes) * 2 ** 20).toBe(IN_FLIGHT_BYTES);
  const perRate = Number(kilobytes) * 1_000;
  const signatures = (SIGNATURE_BYTES * SIGNATURE_MEMORY) / 1_000;
  expect(perRate).toBeGreaterThanOrEqual(signatures);
  expect(perRate).toBeLessThan(1.1 * signatures);
  const [, ofWorker, ofAllElse] =
    /Add (\d+) MiB for each worker .* and (\d+) MiB for all else/.exec(paper) ?? [];
  const batches = CONCURRENT_BATCHES * (MAX_BATCH_BYTES + DEFAULTS.BODY_LIMIT);
  expect(Number(ofWorker) * 2 ** 20).toBe(batches);
  const [, webs, workers] = /--scale web=(\d+) --scale worker=(\d+)/.exec(compose) ?? [];
  const [, gibibytes] = /--maxmemory\n +- (\d+)gb\n/.exec(compose) ?? [];
  const ofWorkers = Number(workers) * batches + Number(ofAllElse) * 2 ** 20;
  const room = Number(gibibytes) * 2 ** 30 - Number(webs) * IN_FLIGHT_BYTES - ofWorkers;
  const [, rate] =
    /1 GiB is enough for two `web` processes, four workers and ([\d,]+) pushes a second/.exec(
      paper,
    ) ?? [];
  expect([gibibytes, webs, workers]).toEqual(['1', '2', '4']);
  expect(Math.floor(room / perRate / 100) * 100).toBe(Number(rate?.replace(',', '')));
  expect(compose).toContain(`${rate} pushes a`);
});

test('docker-compose.yml leaves more time than DRAIN_TIMEOUT before it kills', () => {
  const [, seconds] = /stop_grace_period: (\d+)s/.exec(read('docker-compose.yml')) ?? [];
  expect(Number(seconds) * 1000).toBeGreaterThan(DEFAULTS.DRAIN_TIMEOUT);
});

const PAPERS = [
  ...['README.md', 'README.zh.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...['docs', 'docs/notes'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];

/** As hosts of repositories make them of headings. */
const slugOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replace(/ /g, '-');
const slugsOf = (paper: string) =>
  [...read(paper).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => slugOf(title));

const MENTIONED_PATH =
  /`((?:src|workers|scripts|test|tools|public|browser|docs|examples|ops)\/[\w/.-]+)`/g;

test.each(PAPERS)('what %s points to is there', (paper) => {
  const text = read(paper);
  const links = [...text.matchAll(/\]\((?!https?:|\/)([^)\s]+)\)/g)].map(([, link = '']) => link);
  const mentions = [...text.matchAll(MENTIONED_PATH)];
  const missing = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? paper : normalize(join(dirname(paper), path));
    if (!exists(target)) return true;
    return anchor !== undefined && !slugsOf(target).includes(decodeURIComponent(anchor));
  });
  expect(missing).toEqual([]);
  expect(mentions.map(([, path = '']) => path).filter((path) => !exists(path))).toEqual([]);
});

test('README.zh.md is the README in Chinese: the same headings, the same commands', () => {
  const blocks = (paper: string) =>
    [...read(paper).matchAll(/```(?:bash|json)\n([\s\S]*?)```/g)].map(([, block]) => block);
  const headings = (paper: string) => [...read(paper).matchAll(/^#+ /gm)].length;
  expect(blocks('README.zh.md')).toEqual(blocks('README.md'));
  expect(headings('README.zh.md')).toBe(headings('README.md'));
});

test('the README is for a user: no longer than 250 lines', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(250);
});

test('the index names every page', () => {
  const index = read('docs/README.md');
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  const missing = pages.filter((name) => name !== 'README.md' && !index.includes(`(${name})`));
  expect(missing).toEqual([]);
});

test.each(['architecture', 'performance', 'reliability'])(
  'docs/%s.md has at most 150 lines',
  (page) => {
    expect(read(`docs/${page}.md`).trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  },
);

describe.each([
  ['en', ['README.md', 'docs/concepts.md']],
  ['zh', ['README.zh.md']],
])('the life of a push, %s', (language, pages) => {
  const picture = `pictures/life-of-a-push-${language}.svg`;
  const svg = read(`docs/${picture}`);

  test('the picture is well-formed', () => {
    const parse = ['-c', 'import sys, xml.dom.minidom as xml; xml.parse(sys.argv[1])'];
    const parsed = spawnSync('python3', [...parse, join(ROOT, 'docs', picture)]);
    expect(parsed).toMatchObject({ status: 0 });
  });

  test('it has a description, a dark form, and nothing from elsewhere', () => {
    expect(svg).toMatch(/<title id="title">[^<]+<\/title>\s+<desc id="desc">[^<]+</);
    expect(svg).toContain('@media (prefers-color-scheme: dark)');
    expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
      /https?:|@import|@font-face|href=|<script/,
    );
  });

  test.each(pages)('%s shows it, with a text for screen readers', (page) => {
    expect(read(page)).toMatch(new RegExp(`!\\[[^\\]]{10,}\\]\\((?:docs/)?${picture}\\)`));
  });
});

test('the changelog is about this version', () => {
  const { version } = JSON.parse(read('package.json'));
  expect(read('CHANGELOG.md')).toContain(`\n## [${version}] - `);
});
