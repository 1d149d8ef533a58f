/**
 * The owner of a partition, as Redis has it: the session of the database in which it commits, by which
 * its work can be ended, and the name of its process. A process of an earlier version writes the
 * session alone. The next batch of the partition ends the work of an owner that did not acknowledge its
 * own, dead or alive; the heartbeats of `src/storage/sessions` are for when Redis has forgotten it.
 */
const BETWEEN = '@';

export interface Owner {
  /** Hex. */
  readonly session: string;
  /** Null where it did not write it. */
  readonly name: string | null;
}

/** @param name without blanks: Redis has several owners in one text */
export const ownerText = ({ session, name }: { session: string; name: string }): string =>
  session + BETWEEN + name;

export function readOwner(text: string): Owner {
  const [session = '', ...name] = text.split(BETWEEN);
  return { session, name: name.length > 0 ? name.join(BETWEEN) : null };
}

/** As operators meet it: by its name wherever it has one. */
export function ownerName(text: string): string {
  const { session, name } = readOwner(text);
  return name ?? session;
}
