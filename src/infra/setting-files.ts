/**
 * Reads secret settings from files: for example, MONGO_URL_FILE is the path of a file that contains MONGO_URL. Files
 * hide the secrets from `docker inspect`.
 */
import { readFileSync } from 'node:fs';

export type Environment = Readonly<Record<string, string | undefined>>;

export const SECRET_SETTINGS = ['MONGO_URL', 'REDIS_URL', 'SECRET_KEYS', 'OPERATOR_TOKEN'] as const;
type SecretSetting = (typeof SECRET_SETTINGS)[number];

export const fileVariableOf = <T extends SecretSetting>(name: T): `${T}_FILE` => `${name}_FILE`;

export interface SettingFiles {
  readonly env: Environment;
  /** Pairs of variable name and problem. */
  readonly problems: readonly (readonly [string, string])[];
  /** Settings whose file variable has a problem. */
  readonly unknown: ReadonlySet<string>;
  /** @returns a suffix for error messages that names the file of the setting; '' if the setting has no file */
  readonly describeFile: (name: string) => string;
}

/** An empty variable counts as not set. */
export function readSettingFiles(environment: Environment): SettingFiles {
  const values: Record<string, string> = {};
  const problems: [string, string][] = [];
  const unknown = new Set<string>();
  const sources = new Map<string, string>();
  for (const name of SECRET_SETTINGS) {
    const variable = fileVariableOf(name);
    const path = environment[variable];
    if (!path) continue;
    const read = environment[name]
      ? { problem: `must not be set together with ${name}` }
      : readOne(path);
    if (read.problem !== undefined) {
      problems.push([variable, read.problem]);
      unknown.add(name);
    } else {
      values[name] = read.value;
      sources.set(name, ` (read from ${variable}, ${path})`);
    }
  }
  const describeFile = (name: string) => sources.get(name) ?? '';
  return { env: { ...environment, ...values }, problems, unknown, describeFile };
}

type ReadValue =
  | { readonly value: string; readonly problem?: never }
  | { readonly value?: never; readonly problem: string };

/** Trims the value, because editors and `echo` write a line feed at the end of a file. */
function readOne(path: string): ReadValue {
  try {
    const value = readFileSync(path, 'utf8').trim();
    return value === '' ? { problem: `${path} is empty` } : { value };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `cannot read ${path}: ${code ?? String(error)}` };
  }
}

export const isSettingSet = (env: Environment, name: SecretSetting): boolean =>
  Boolean(env[name] || env[fileVariableOf(name)]);

export const pickSetting = (env: Environment, name: SecretSetting): Environment => ({
  [name]: env[name],
  [fileVariableOf(name)]: env[fileVariableOf(name)],
});

/** Sets each variable to '', because an empty variable counts as not set. */
export const unsetSettings = (...names: readonly SecretSetting[]): Environment =>
  Object.fromEntries(names.flatMap((name) => [name, fileVariableOf(name)]).map((it) => [it, '']));

/** Returns placeholders for required settings that are missing. */
export function placeholdersFor(env: Environment): Environment {
  const missing = Object.entries(PLACEHOLDERS).filter(
    ([name]) => !isSettingSet(env, name as keyof typeof PLACEHOLDERS),
  );
  return Object.fromEntries(missing);
}

const PLACEHOLDERS = {
  MONGO_URL: 'mongodb://127.0.0.1/stand-in',
  REDIS_URL: 'redis://127.0.0.1',
  SECRET_KEYS: `stand-in:${'A'.repeat(43)}=`,
};
