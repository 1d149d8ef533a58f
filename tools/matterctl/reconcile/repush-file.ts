/** Writes the re-push file, with which `matterctl push` corrects the ledger, and finds lines that would be rejected. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { PushError } from '../../../src/protocol/errors';
import { username } from '../../../src/protocol/fields';
import { createBodyParsers } from '../../../src/protocol/requests';
import { createCheckBody } from '../../../src/pushes/pushes';
import type { RepushLine } from '../../../src/queries/reconcile/repush';

/** A file that has its name only after it is complete. */
export interface RepushFile {
  add(line: RepushLine): void;
  /** Gives the file its name. If it has no lines, it removes the file of an earlier run. */
  finish(): void;
  /** Removes an incomplete file. */
  discard(): void;
}

/** The name of the file while it is incomplete, so that no user pushes an incomplete file. */
export const partOf = (path: string) => `${path}.part`;

/** @param path path of the file. An existing file is replaced */
export function createRepushFile(path: string): RepushFile {
  const part = partOf(path);
  let fd: number | undefined;
  const close = () => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  };
  return {
    add: (line) => {
      fd ??= open(part);
      writeSync(fd, `${JSON.stringify(line)}\n`);
    },
    finish: () => {
      if (fd === undefined) {
        rmSync(path, { force: true });
        return;
      }
      fsyncSync(fd);
      close();
      renameSync(part, path);
    },
    discard: () => {
      close();
      rmSync(part, { force: true });
    },
  };
}

/** Creates a new file, because one of a killed run may have other permissions. */
function open(part: string): number {
  rmSync(part, { force: true });
  return openSync(part, 'wx', 0o600);
}

export interface RepushCheckDependencies {
  /** PORTAL_TIME_ZONE and CONCLUDED_STATUSES, which must be those of the service. */
  readonly timeZone: string;
  readonly concluded: ReadonlySet<string>;
  /** Returns the usernames without an enabled portal user. */
  readonly unknownUsers: (usernames: readonly string[]) => Promise<readonly string[]>;
}

/** Checks lines. @returns for each line the reason why it would be rejected; undefined if it would be accepted */
export type CheckRepush = (lines: readonly RepushLine[]) => Promise<(string | undefined)[]>;

/**
 * Checks lines of a re-push file with the rules of the service: their form, and whether their users are known. The
 * service may reject a matter that is valid in its source system.
 */
export function createCheckRepush(deps: RepushCheckDependencies): CheckRepush {
  const { timeZone, concluded } = deps;
  const users = createKnownUsers(deps.unknownUsers);
  const clock = Date.now;
  const parsers = createBodyParsers({ timeZone, clock });
  const check = createCheckBody({ parsers, concluded, clock, unknownUsers: users.unknown });
  const problemOf = async ({ op, body }: RepushLine): Promise<string | undefined> => {
    try {
      // The body as in the file, without undefined fields.
      await check(JSON.parse(JSON.stringify(body)), { operation: op, headerErrors: [] });
      return undefined;
    } catch (error) {
      if (!(error instanceof PushError)) throw error;
      const details = error.errors?.map(({ field, message }) => `${field}: ${message}`) ?? [];
      return [error.reason, ...details].join(' ');
    }
  };
  return async (lines) => {
    await users.learn(lines.flatMap(namesIn));
    return Promise.all(lines.map(problemOf));
  };
}

/** Looks up each username only once. */
function createKnownUsers(lookUp: RepushCheckDependencies['unknownUsers']) {
  const known = new Set<string>();
  const unknown = new Set<string>();
  return {
    learn: async (names: readonly string[]) => {
      const open = [...new Set(names)].filter((name) => !known.has(name));
      if (open.length === 0) return;
      for (const name of await lookUp(open)) unknown.add(name);
      for (const name of open) known.add(name);
    },
    unknown: async (names: readonly string[]) => names.filter((name) => unknown.has(name)),
  };
}

/** The valid usernames in a body. */
function namesIn({ body }: RepushLine): string[] {
  const { parties, initiatorUsername } = body;
  const named = Array.isArray(parties)
    ? parties.map((party: unknown) => Object(party).username)
    : [];
  return [...named, initiatorUsername].filter((name) => username.safeParse(name).success);
}
