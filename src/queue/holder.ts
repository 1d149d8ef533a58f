/**
 * Who works on a partition, as Redis has it: the session of the database in which it commits, by which its
 * work can be ended, and the name of its process. A process of an earlier version writes the session alone.
 */
const BETWEEN = '@';

export interface Holder {
  /** Hex. */
  readonly session: string;
  /** Null where it did not write it. */
  readonly name: string | null;
}

/** @param name without blanks: Redis has several holders in one text */
export const holderText = ({ session, name }: { session: string; name: string }): string =>
  session + BETWEEN + name;

export function readHolder(text: string): Holder {
  const [session = '', ...name] = text.split(BETWEEN);
  return { session, name: name.length > 0 ? name.join(BETWEEN) : null };
}

/** As operators meet it: by its name wherever it has one. */
export function holderName(text: string): string {
  const { session, name } = readHolder(text);
  return name ?? session;
}
