/**
 * The database sessions in which a process commits. A process that dies, or whose connection is cut,
 * between its first write and its commit leaves a transaction open, and what it wrote locked, until
 * the server gives it up (a minute at best). So every process keeps a record of its sessions in the
 * database itself, where no loss of Redis reaches it, and looks after those of the others.
 */
import { randomBytes } from 'node:crypto';
import type { Connection, mongo } from 'mongoose';
import { createKillSessions } from './kill-sessions';
import type { Logger } from './logger';
import { inTransaction } from './mongo';
import { createMutex, type Mutex } from './mutex';
import { startPollLoop } from './poll-loop';
import { processName } from './process-name';

type Work<T> = (session: mongo.ClientSession) => Promise<T>;

export interface Sessions {
  /** The id of a slot's session, hex. */
  idOf(slot: number): string;
  /**
   * Runs writes in one transaction of a slot's session; those of one slot never overlap.
   *
   * @param as the id that `idOf` gave when the work began
   * @throws SessionRenewed where the slot has got another session since: the work was given up
   */
  commit<T>(as: string, work: Work<T>): Promise<T>;
  /** The slot gets another session: whoever is still at work in the one that it had is cut off. */
  renew(slot: number): void;
  /**
   * Ends whatever transactions these sessions have open, whoever they belong to, where the server
   * lets us; where it cannot now, a moment later. Those of this process' own slots are left alone:
   * they are in use, or ended before its next commit.
   */
  kill(ids: readonly string[]): Promise<void>;
  /** Gives the sessions back. */
  end(): Promise<void>;
}

/** Whoever was given up must not commit in the session of its successor. */
export class SessionRenewed extends Error {
  override readonly name = 'SessionRenewed';
}

/** The record of one process. */
interface Owner {
  readonly _id: string;
  /** Of the process; one of an earlier version does not write it. */
  readonly name?: string;
  /** Goes up while the process lives. Nobody's clock counts. */
  readonly beat: number;
  readonly sessions: readonly string[];
}

/** Milliseconds between two beats, lengthened by up to half at random. */
const INTERVAL = 700;
/** Looks at which a record has not changed before its owner counts as gone. */
const PATIENCE = 4;
/** Sessions given up that are remembered: of more, the server has ended the oldest itself. */
const MAX_GIVEN = 50;
/** A session that nobody has: ending it tells whether the server lets us. */
const NOBODY = '00000000000000000000000000000000';

/** @param name of this process, for the others' logs */
export function createSessions(
  connection: Connection,
  logger: Logger,
  name = processName('worker'),
): Sessions {
  const client = connection.getClient();
  const owners = connection.collection<Owner>('session_owners');
  const me = randomBytes(8).toString('hex');
  const slots = new Map<number, Slot>();
  /** Sessions that were given up and may have a transaction open. */
  const given = new Set<string>();
  const slotOf = (number: number): Slot => {
    const slot = slots.get(number) ?? newSlot(client.startSession());
    slots.set(number, slot);
    return slot;
  };

  const kill = createKillSessions(client, logger);
  /** @returns undefined where it is to be tried again: nobody's work may rest on it */
  const tryKill = (ids: readonly string[]): Promise<boolean | undefined> =>
    kill(ids).catch((error) => {
      logger.debug({ error: String(error) }, 'sessions not ended, tried again soon');
      return undefined;
    });
  const killLater = (ids: readonly string[]): void => {
    for (const id of ids) given.add(id);
    for (const id of [...given].slice(0, -MAX_GIVEN)) given.delete(id);
  };
  const writeBeat = async (): Promise<void> => {
    const all = [...slots.values()];
    const sessions = [...all.map(({ id }) => id), ...given];
    await owners.updateOne(
      { _id: me },
      { $inc: { beat: 1 }, $set: { name, sessions } },
      { upsert: true },
    );
    for (const slot of all) slot.isRecorded = true;
  };
  const oneBeatAtATime = createMutex();
  /** An older record must not replace a newer one: it lacks a session. */
  const beat = () => oneBeatAtATime(writeBeat);
  /**
   * A transaction that failed may be open still: its abort can be lost as well. A server that does not
   * end it for us does so itself where the session begins another one.
   */
  const makeReady = async (slot: Slot): Promise<void> => {
    if (!slot.isRecorded) await beat();
    if (!slot.hasFailed) return;
    if (!(await tryKill([slot.id]))) {
      await inTransaction(slot.session, (session) => owners.findOne({ _id: me }, { session }));
    }
    slot.hasFailed = false;
  };
  /** What another slot left open may hold what is to be written. */
  const makeOthersReady = async (): Promise<void> => {
    const failed = [...slots.values()].filter((one) => one.hasFailed && one.exclusively.isFree());
    await Promise.all(failed.map((one) => one.exclusively(() => makeReady(one))));
  };
  const commitIn = <T>(slot: Slot, work: Work<T>): Promise<T> =>
    slot.exclusively(async () => {
      await Promise.all([makeReady(slot), makeOthersReady()]);
      slot.hasFailed = true;
      const result = await inTransaction(slot.session, work);
      slot.hasFailed = false;
      return result;
    });

  const findGone = watchBeats(me);
  const buryOthers = async (): Promise<void> => {
    const found = await owners.find({}).toArray();
    for (const { _id, name: gone = _id, beat: last, sessions } of findGone(found)) {
      if ((await tryKill(sessions)) === undefined) continue;
      logger.warn({ gone }, 'ending the transactions of a process that is gone');
      await owners.deleteOne({ _id, beat: last });
    }
  };
  /** It is ended once its work is over, however that ends. */
  const giveUp = (slot: Slot): void => {
    killLater([slot.id]);
    slot
      .exclusively(() => endForGood(slot.session))
      .catch((error) => logger.debug({ error: String(error) }, 'session not ended'));
  };
  let isAsked = false;
  const care = async (): Promise<void> => {
    await beat();
    // Said at the start, not when the first worker has died.
    if (!isAsked) isAsked = (await tryKill([NOBODY])) !== undefined;
    const ids = [...given];
    const isOver = (await tryKill(ids)) !== undefined;
    if (isOver) for (const id of ids) given.delete(id);
    for (const slot of slots.values()) {
      // One that is in use is made ready by its next commit, and may be in use for long.
      if (slot.exclusively.isFree()) await slot.exclusively(() => makeReady(slot));
    }
    await buryOthers();
  };
  const caring = startPollLoop(care, INTERVAL, (error) => {
    logger.debug({ error: String(error) }, 'sessions not looked after, tried again soon');
  });

  return {
    idOf: (number) => slotOf(number).id,
    commit: async (as, work) => {
      const slot = [...slots.values()].find(({ id }) => id === as);
      if (!slot) throw new SessionRenewed('its slot has another session now');
      return commitIn(slot, work);
    },
    renew: (number) => {
      const old = slots.get(number);
      if (old) giveUp(old);
      slots.delete(number);
    },
    kill: async (ids) => {
      const own = new Set([...slots.values()].map(({ id }) => id));
      const others = ids.filter((id) => !own.has(id));
      if ((await tryKill(others)) === undefined) killLater(others);
    },
    end: async () => {
      await caring.stop();
      await Promise.all([...slots.values()].map(({ session }) => session.endSession()));
      await owners.deleteOne({ _id: me });
    },
  };
}

interface Slot {
  readonly session: mongo.ClientSession;
  /** Hex. */
  readonly id: string;
  /** Runs what makes use of the session: one after the other. */
  readonly exclusively: Mutex;
  /** Its last transaction may be open. */
  hasFailed: boolean;
  /** The record in the database names it. */
  isRecorded: boolean;
}

function newSlot(session: mongo.ClientSession): Slot {
  const id = session.id?.id.toString('hex') ?? '';
  return { session, id, exclusively: createMutex(), hasFailed: false, isRecorded: false };
}

/** Others may still end the session by its id: the driver must not give it to anybody else. */
async function endForGood(session: mongo.ClientSession): Promise<void> {
  session.serverSession.isDirty = true;
  await session.endSession();
}

/** @returns to be called at each look: names those whose record stayed the same for too long */
function watchBeats(me: string): (seen: readonly Owner[]) => Owner[] {
  let known = new Map<string, { beat: number; looks: number }>();
  return (seen) => {
    const before = known;
    known = new Map();
    return seen.filter(({ _id, beat }) => {
      const last = before.get(_id);
      const looks = last?.beat === beat ? last.looks + 1 : 0;
      known.set(_id, { beat, looks });
      return _id !== me && looks >= PATIENCE;
    });
  };
}
