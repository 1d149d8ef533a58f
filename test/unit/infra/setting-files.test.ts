/** A secret setting may be given as a file, so that it is not in the environment of the process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, readConfig, redactConfig } from '../../../src/infra/config';
import { readStartSettings } from '../../../tools/local/settings';
import { createSettings } from '../../../tools/matterctl/settings';

const KEY = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
const TOKEN = 'a-token-of-at-least-32-characters!';
const VALUES = {
  MONGO_URL: 'mongodb://user:hunter2@h/db',
  REDIS_URL: 'redis://:hunter2@h',
  SECRET_KEYS: KEY,
  OPERATOR_TOKEN: TOKEN,
};

const folder = mkdtempSync(join(tmpdir(), 'setting-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Every setting as a file, with the line feed that editors and `echo` add. */
const AS_FILES = Object.fromEntries(
  Object.entries(VALUES).map(([name, value]) => [`${name}_FILE`, file(name, `${value}\n`)]),
);

function problemsOf(env: Environment): string {
  try {
    readConfig(env);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

test('each of the four is read from its file, without the white space around it', () => {
  const config = readConfig({ METRICS_PORT: '9464', ...AS_FILES });
  expect(config).toMatchObject({ ...VALUES, SECRET_KEYS: [KEY] });
});

test('what was read from a file is printed as little as what is in the environment', () => {
  const printed = JSON.stringify(redactConfig(readConfig({ METRICS_PORT: '9464', ...AS_FILES })));
  for (const secret of ['hunter2', KEY, TOKEN]) expect(printed).not.toContain(secret);
});

test.each(Object.entries(VALUES))('%s as a value and as a file is an error', (name, value) => {
  const both = { METRICS_PORT: '9464', ...AS_FILES, [name]: value };
  expect(problemsOf(both)).toContain(`\n  ${name}_FILE: must not be set together with ${name}`);
});

test('a file that cannot be read is an error that names the variable and the file', () => {
  const MONGO_URL_FILE = join(folder, 'absent');
  const message = problemsOf({ ...AS_FILES, METRICS_PORT: '9464', MONGO_URL_FILE });
  expect(message).toContain(`\n  MONGO_URL_FILE: cannot read ${MONGO_URL_FILE}: ENOENT`);
  expect(message).not.toContain('MONGO_URL: is required');
});

test('an empty file is an error that names the variable and the file', () => {
  const SECRET_KEYS_FILE = file('empty', ' \n');
  const message = problemsOf({ ...AS_FILES, METRICS_PORT: '9464', SECRET_KEYS_FILE });
  expect(message).toContain(`\n  SECRET_KEYS_FILE: ${SECRET_KEYS_FILE} is empty`);
});

test('a wrong value in a file is an error that names the variable and the file, not the value', () => {
  const REDIS_URL_FILE = file('wrong', 'http://user:hunter2@h');
  const message = problemsOf({ ...AS_FILES, METRICS_PORT: '9464', REDIS_URL_FILE });
  expect(message).toMatch(/\n {2}REDIS_URL: must start with .* \(read from REDIS_URL_FILE, /);
  expect(message).toContain(`REDIS_URL_FILE, ${REDIS_URL_FILE})`);
  expect(message).not.toContain('hunter2');
});

test('every problem is reported at once, those of files among them', () => {
  const SECRET_KEYS_FILE = join(folder, 'absent');
  const message = problemsOf({ ...AS_FILES, SECRET_KEYS_FILE, PORT: 'http' });
  for (const name of ['PORT', 'SECRET_KEYS_FILE', 'OPERATOR_TOKEN']) {
    expect(message).toContain(`\n  ${name}: `);
  }
});

test('an empty variable counts as absent', () => {
  const empty = Object.fromEntries(Object.keys(AS_FILES).map((name) => [name, '']));
  expect(problemsOf({ METRICS_PORT: '9464', ...VALUES, ...empty })).toBe('');
});

test('matterctl reads the same files', () => {
  const settings = createSettings(AS_FILES, folder);
  expect(settings.mongo()).toEqual({ url: VALUES.MONGO_URL, chosen: 'from MONGO_URL_FILE' });
  expect(settings.secretKeys()).toEqual([KEY]);
  expect(settings.queue().REDIS_URL).toBe(VALUES.REDIS_URL);
});

test('a command of matterctl needs only the files that it uses', () => {
  const gone = join(folder, 'absent');
  const { MONGO_URL_FILE } = AS_FILES;
  const settings = createSettings({ MONGO_URL_FILE, SECRET_KEYS_FILE: gone }, folder);
  expect(settings.mongo().url).toBe(VALUES.MONGO_URL);
  expect(() => settings.secretKeys()).toThrow(`SECRET_KEYS_FILE: cannot read ${gone}`);
  const both = createSettings({ MONGO_URL_FILE, MONGO_URL: VALUES.MONGO_URL }, folder);
  expect(() => both.mongo()).toThrow('must not be set together');
});

test('npm start takes a server and keys that are given as files', () => {
  const start = readStartSettings({ ...AS_FILES, METRICS_PORT: '9464' }, '/project');
  expect(start).toMatchObject({
    mongoUrl: VALUES.MONGO_URL,
    redisUrl: VALUES.REDIS_URL,
    secretKeys: KEY,
  });
});
