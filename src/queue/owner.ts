/**
 * The owner of partitions, as Redis has it: the worker that holds them, the sessions of the database in
 * which it commits, by which its work can be ended, and the name of its process. Who takes a partition
 * from an owner that did not let go of it ends that one's work, dead or alive; the heartbeats of
 * `src/storage/sessions` are for when Redis has forgotten it.
 */
export interface Owner {
  /** Of one run of a process, letters and digits; it is rung by it. */
  readonly id: string;
  /** Hex, one for each batch that may be under way. */
  readonly sessions: readonly string[];
  /** Of the process, without blanks: Redis has several owners in one text. */
  readonly name: string;
}

/** `id:session+session@name`; the scripts read the id. */
export const ownerText = ({ id, sessions, name }: Owner): string =>
  `${id}:${sessions.join('+')}@${name}`;

/** @param text as `ownerText` wrote it */
export function readOwner(text: string): Owner {
  const [, id = '', sessions = '', name = ''] = /^([^:]*):([^@]*)@(.*)$/.exec(text) ?? [];
  return { id, sessions: sessions.split('+').filter(Boolean), name };
}

/** As operators meet it. */
export const ownerName = (text: string): string => readOwner(text).name;
