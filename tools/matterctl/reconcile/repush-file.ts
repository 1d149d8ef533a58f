/** The file that `matterctl push` takes to mend what differs: how it is written, and what of it would fail. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { PushError } from '../../../src/protocol/errors';
import { username } from '../../../src/protocol/fields';
import { createBodyParsers } from '../../../src/protocol/requests';
import { createCheckBody } from '../../../src/pushes/validate-push';
import type { RepushLine } from '../../../src/queries/reconcile/repush';

/** It is there only once it is whole. */
export interface RepushFile {
  add(line: RepushLine): void;
  /** Puts it in its place; without a line, one of an earlier run is taken away. */
  finish(): void;
  /** Leaves nothing of it behind. */
  discard(): void;
}

/** While it is written it has another name: half a file would mend half of what differs. */
export const partOf = (path: string) => `${path}.part`;

/** @param path what stands there is replaced */
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

/** A new file: one that was left behind may have other permissions. */
function open(part: string): number {
  rmSync(part, { force: true });
  return openSync(part, 'wx', 0o600);
}

export interface RepushCheckDependencies {
  /** PORTAL_TIME_ZONE and CONCLUDED_STATUSES, which must be those of the service. */
  readonly timeZone: string;
  readonly concluded: ReadonlySet<string>;
  /** Of some usernames, those that no enabled user of the portal has. */
  readonly unknownUsers: (usernames: readonly string[]) => Promise<readonly string[]>;
}

/** @returns for each line why it would be rejected; undefined: it would pass */
export type CheckRepush = (lines: readonly RepushLine[]) => Promise<(string | undefined)[]>;

/**
 * Which lines of a re-push file the service would reject, by the service's own rules: their form, and
 * whether their users are known. A matter may be right in its source and still not pass.
 */
export function createCheckRepush(deps: RepushCheckDependencies): CheckRepush {
  const { timeZone, concluded } = deps;
  const users = createKnownUsers(deps.unknownUsers);
  const clock = Date.now;
  const parsers = createBodyParsers({ timeZone, clock });
  const check = createCheckBody({ parsers, concluded, clock, unknownUsers: users.unknown });
  const problemOf = async ({ op, body }: RepushLine): Promise<string | undefined> => {
    try {
      // As it stands in the file: without what is undefined.
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

/** Asks about each user once. */
function createKnownUsers(ask: RepushCheckDependencies['unknownUsers']) {
  const asked = new Set<string>();
  const unknown = new Set<string>();
  return {
    learn: async (names: readonly string[]) => {
      const open = [...new Set(names)].filter((name) => !asked.has(name));
      if (open.length === 0) return;
      for (const name of await ask(open)) unknown.add(name);
      for (const name of open) asked.add(name);
    },
    unknown: async (names: readonly string[]) => names.filter((name) => unknown.has(name)),
  };
}

/** The users that a body names, as far as they can be names at all. */
function namesIn({ body }: RepushLine): string[] {
  const { parties, initiatorUsername } = body;
  const named = Array.isArray(parties)
    ? parties.map((party: unknown) => Object(party).username)
    : [];
  return [...named, initiatorUsername].filter((name) => username.safeParse(name).success);
}
