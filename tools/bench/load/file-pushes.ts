/** The pushes of a file, one `{"op","body"}` a line, as `matterctl push` takes them. */
import { readFileSync } from 'node:fs';
import type { OperationName } from '../../../src/domain/operation';
import type { BenchPush } from './pushes';

interface Line {
  readonly op: OperationName;
  readonly body: {
    readonly externalId: string;
    readonly parties?: readonly { readonly username: string }[];
  };
}

/** Everybody who has to be known for the pushes of a file to pass. */
export function usernamesIn(file: string): string[] {
  const named = linesOf(file).flatMap(({ body }) => body.parties ?? []);
  return [...new Set(named.map(({ username }) => username))];
}

function linesOf(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((text) => text !== '').map((text): Line => JSON.parse(text));
}

/**
 * Shares the matters of a file among connections, so that those of one matter stay in their order.
 * Whoever is through with its share begins again, with other matters of the same histories.
 *
 * @returns the next push of a connection, without an end
 */
export function createFilePushes(file: string, connections: number): (of: number) => BenchPush {
  const shares = Array.from({ length: connections }, (): Line[] => []);
  for (const line of linesOf(file)) {
    shares[hashOf(line.body.externalId) % connections]?.push(line);
  }
  const filled = shares.filter((share) => share.length > 0);
  if (filled.length === 0) throw new Error(`no pushes in ${file}`);
  const sent = shares.map(() => 0);
  return (of) => {
    // More connections than matters: some begin with what others are at, under other names.
    const share = filled[of % filled.length] as Line[];
    const number = sent[of] ?? 0;
    sent[of] = number + 1;
    const { op, body } = share[number % share.length] as Line;
    const copy = `${of}-${Math.floor(number / share.length)}`;
    return {
      operation: op,
      body: JSON.stringify({ ...body, externalId: `${body.externalId}-${copy}` }),
    };
  };
}

/** Spreads: a sum of the characters would not. */
function hashOf(text: string): number {
  let hash = 0;
  for (const character of text)
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}
