/**
 * Secret settings as files: `MONGO_URL_FILE` names a file that holds MONGO_URL. A value in the environment is
 * visible in `docker inspect` and in `/proc`; a mounted file is not.
 */
import { readFileSync } from 'node:fs';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings that may be given as a file. */
export const SECRET_SETTINGS = ['MONGO_URL', 'REDIS_URL', 'SECRET_KEYS', 'OPERATOR_TOKEN'] as const;
type SecretSetting = (typeof SECRET_SETTINGS)[number];

export const fileVariableOf = <T extends SecretSetting>(name: T): `${T}_FILE` => `${name}_FILE`;

export interface SettingFiles {
  /** The environment with the values that were read from files. */
  readonly env: Environment;
  /** By the name of the variable. */
  readonly problems: readonly (readonly [string, string])[];
  /** Settings whose file could not be used: their value is not missing but unknown. */
  readonly unknown: ReadonlySet<string>;
  /** Where the value of a setting was read, in words to be put behind an error about it. */
  readonly sourceOf: (name: string) => string;
}

/** @param given in which an empty variable counts as absent */
export function readSettingFiles(given: Environment): SettingFiles {
  const values: Record<string, string> = {};
  const problems: [string, string][] = [];
  const unknown = new Set<string>();
  const sources = new Map<string, string>();
  for (const name of SECRET_SETTINGS) {
    const variable = fileVariableOf(name);
    const path = given[variable];
    if (!path) continue;
    const read = given[name] ? { problem: `must not be set together with ${name}` } : readOne(path);
    if (read.problem !== undefined) {
      problems.push([variable, read.problem]);
      unknown.add(name);
    } else {
      values[name] = read.value;
      sources.set(name, ` (read from ${variable}, ${path})`);
    }
  }
  const sourceOf = (name: string) => sources.get(name) ?? '';
  return { env: { ...given, ...values }, problems, unknown, sourceOf };
}

type ReadValue =
  | { readonly value: string; readonly problem?: never }
  | { readonly value?: never; readonly problem: string };

/** Editors and `echo` end a file with a line feed, which belongs to no value. */
function readOne(path: string): ReadValue {
  try {
    const value = readFileSync(path, 'utf8').trim();
    return value === '' ? { problem: `${path} is empty` } : { value };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `cannot read ${path}: ${code ?? String(error)}` };
  }
}

/** Whether a setting is given, as a value or as a file. */
export const isGiven = (env: Environment, name: SecretSetting): boolean =>
  Boolean(env[name] || env[fileVariableOf(name)]);

/** A setting in both of its forms: what a program needs that reads only some of the settings. */
export const bothForms = (env: Environment, name: SecretSetting): Environment => ({
  [name]: env[name],
  [fileVariableOf(name)]: env[fileVariableOf(name)],
});

/** Both forms as absent: for a setting that a program does not need, or passes on as a value. */
export const withoutForms = (...names: readonly SecretSetting[]): Environment =>
  Object.fromEntries(names.flatMap((name) => [name, fileVariableOf(name)]).map((it) => [it, '']));

/** Values that stand for required settings where a program does not need them, unless they are given. */
export function standInsFor(env: Environment): Environment {
  const missing = Object.entries(STAND_INS).filter(
    ([name]) => !isGiven(env, name as keyof typeof STAND_INS),
  );
  return Object.fromEntries(missing);
}

const STAND_INS = {
  MONGO_URL: 'mongodb://127.0.0.1/stand-in',
  REDIS_URL: 'redis://127.0.0.1',
  SECRET_KEYS: `stand-in:${'A'.repeat(43)}=`,
};
