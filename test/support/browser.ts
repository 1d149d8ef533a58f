/** A headless Chromium that comes as a package: nothing has to be installed on the machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import puppeteer, { type Browser, type HTTPRequest, type Page } from 'puppeteer-core';
import { projectRoot } from '../../tools/local/project';

const UNPACK_MS = 300_000;
/** Milliseconds for the browser to start beside other tests. */
const START_MS = 180_000;
/** Of one wait of a page: a browser that has just started shares two cores with other tests. */
export const PAGE_MS = 120_000;
/** Milliseconds for one thing to be seen: no wait of a page may outlast its test. */
export const SEEN_MS = 120_000;
/** An address that leads to this machine, too: the internal port accepts no names. It is no secure context. */
export const INSIDE_HOST = '10.20.30.40';
/** Everything but the names that a test maps is unknown to it: it cannot reach any other place. */
const rulesFor = (name: string) =>
  `--host-resolver-rules=MAP ${name} 127.0.0.1,MAP ${INSIDE_HOST} 127.0.0.1,MAP * ~NOTFOUND,EXCLUDE 127.0.0.1`;
const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--no-proxy-server'];

export interface Chromium {
  /** @param name a host that leads to this machine, and no other does */
  launch(name: string): Promise<Browser>;
  /** Takes away what the browser has written. */
  remove(): void;
}

/** What a page did since it was made. */
export interface Watched {
  readonly requests: readonly HTTPRequest[];
  /** Of the console: errors, warnings, violations of the policy; what was thrown, what was not loaded. */
  readonly complaints: string[];
}

export interface WatchedPage extends Watched {
  readonly page: Page;
}

/** The language of the browser does not depend on the machine: a test without a language in its address is Chinese. */
export const languageIs = (language: string) =>
  `Object.defineProperty(navigator, 'languages', { configurable: true, get: () => ['${language}'] })`;

/** An empty page, of which everything is seen. */
export async function openPage(browser: Browser): Promise<WatchedPage> {
  const page = await browser.newPage();
  page.setDefaultTimeout(SEEN_MS);
  await page.evaluateOnNewDocument(languageIs('zh-CN'));
  return { page, ...watch(page) };
}

function watch(page: Page): Watched {
  const requests: HTTPRequest[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => void requests.push(request));
  page.on('requestfailed', (request) => void complaints.push(`failed: ${request.url()}`));
  page.on('pageerror', (error) => void complaints.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
  });
  return { requests, complaints };
}

/** Faults are all but answers that say no, and questions that a page gave up with their screen. */
export const isFault = (complaint: string): boolean =>
  !/^failed: .*(\/api\/open\/|\/console\/(?!main-)[\w-]+\.js$)|status of [245]\d\d/.test(complaint);

/** URLs that a page asked for and that are not of its own origin; the browser's own icons, which are data, are nowhere. */
export function elsewhere(page: Page, { requests }: Watched): string[] {
  const { origin } = new URL(page.url());
  const urls = requests.map((it) => new URL(it.url()));
  return urls
    .filter((url) => url.origin !== origin && url.protocol !== 'data:')
    .map((url) => url.href);
}

/**
 * Makes the browser ready. Not asynchronous: tests are declared, or skipped, by what it returns.
 *
 * @param fonts folders with fonts, beside those of the machine
 * @returns the reason where it does not run on this machine
 */
export function prepareChromium(
  fonts: readonly string[] = [],
): Chromium | { readonly problem: string } {
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-chromium-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const { file, needsLibraries } = triedChromium();
    const launch = (name: string) =>
      puppeteer.launch({
        executablePath: join(CACHE, file),
        env: envOf(CACHE, needsLibraries, { home: folder, fonts }),
        headless: 'shell',
        timeout: START_MS,
        // A pipe, not a port: the browser ends when the process that started it is gone.
        pipe: true,
        userDataDir: mkdtempSync(join(folder, 'profile-')),
        args: [...FLAGS, rulesFor(name)],
      });
    return { launch, remove };
  } catch (error) {
    remove();
    return { problem: (error as Error).message };
  }
}

/** The package, and what it was unpacked to: once, for all test files of all runs. */
const PACKAGE = join(projectRoot(), 'node_modules/@sparticuz/chromium/package.json');
const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
const CACHE = join(projectRoot(), '.embedded', `chromium-${version}`);
/** Says how it runs on this machine. */
const TRIED = 'tried.json';

interface Tried {
  /** The browser, within the folder that it was unpacked to. */
  readonly file: string;
  /** Whether it runs only with the libraries of the package. */
  readonly needsLibraries: boolean;
}

/** @throws Error where it cannot be unpacked or does not start */
function triedChromium(): Tried {
  if (!existsSync(join(CACHE, TRIED))) unpackAndTry();
  return JSON.parse(readFileSync(join(CACHE, TRIED), 'utf8'));
}

/** Other test files may do the same at this moment: the first one to be done counts. */
function unpackAndTry(): void {
  const folder = mkdtempSync(`${CACHE}-`);
  try {
    const file = relative(folder, unpack(folder));
    const problems: string[] = [];
    // Libraries of the machine first; those of the package are for one that has none.
    for (const needsLibraries of [false, true]) {
      const env = envOf(folder, needsLibraries, { home: folder, fonts: [] });
      const problem = startProblem(join(folder, file), env);
      if (problem === undefined) {
        const tried: Tried = { file, needsLibraries };
        writeFileSync(join(folder, TRIED), JSON.stringify(tried));
        keepAsCache(folder);
        return;
      }
      problems.push(problem);
    }
    throw new Error(problems.join('; '));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function keepAsCache(folder: string): void {
  try {
    renameSync(folder, CACHE);
  } catch (error) {
    // Another test file was quicker.
    if (!existsSync(join(CACHE, TRIED))) throw error;
  }
}

interface OwnFolders {
  /** For what the browser writes. */
  readonly home: string;
  /** Folders with fonts. */
  readonly fonts: readonly string[];
}

function envOf(unpacked: string, needsLibraries: boolean, { home, fonts }: OwnFolders) {
  return {
    ...process.env,
    ...{ TMPDIR: home, HOME: home, FONTCONFIG_FILE: fontsOf(unpacked, { home, fonts }) },
    ...(needsLibraries && { LD_LIBRARY_PATH: join(unpacked, 'al2023/lib') }),
  };
}

/**
 * Where letters come from: the fonts of the machine, and the one of the package for a machine that has
 * none. Without any of them all text would have no size, and nothing could be said of how a page looks.
 *
 * @returns the settings of fontconfig
 */
function fontsOf(unpacked: string, { home, fonts }: OwnFolders): string {
  const dirs = [...fonts, '/usr/share/fonts', '/usr/local/share/fonts', join(unpacked, 'fonts')];
  const file = join(home, 'fonts.conf');
  const settings = [...dirs.map((dir) => `<dir>${dir}</dir>`), `<cachedir>${home}</cachedir>`];
  writeFileSync(file, `<?xml version="1.0"?>\n<fontconfig>${settings.join('')}</fontconfig>\n`);
  return file;
}

/**
 * In a process of its own: the package is for `import` only, and unpacks to the folder for temporary files.
 *
 * @returns the path of the browser
 * @throws Error where it fails
 */
function unpack(folder: string): string {
  const script = `import('@sparticuz/chromium').then(async (it) =>
    process.stdout.write(await it.default.executablePath()))`;
  const done = spawnSync(process.execPath, ['-e', script], {
    cwd: projectRoot(),
    // On the machines that the package is made for it unpacks the libraries as well.
    env: { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
    encoding: 'utf8',
    timeout: UNPACK_MS,
  });
  if (done.status === 0) return done.stdout;
  throw new Error(`it could not be unpacked: ${lastLines(done.stderr)}`);
}

/** Starts and ends it once. */
function startProblem(path: string, env: NodeJS.ProcessEnv): string | undefined {
  const script = `require('puppeteer-core')
    .launch({
      executablePath: process.argv[1],
      headless: 'shell',
      timeout: ${START_MS},
      args: process.argv.slice(2),
    })
    .then((browser) => browser.close())`;
  const tried = spawnSync(process.execPath, ['-e', script, path, ...FLAGS], {
    cwd: projectRoot(),
    env,
    encoding: 'utf8',
    timeout: START_MS,
  });
  if (tried.status === 0) return undefined;
  return `it does not start: ${tried.error?.message ?? lastLines(tried.stderr)}`;
}

const lastLines = (text: string | null) => text?.trim().split('\n').slice(-3).join(' ') ?? '';
