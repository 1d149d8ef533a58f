/** The operations of a run: every kind, over a few hot keys and many cold ones, drawn from a seed. */
import type { OperationName } from '../../src/domain/operation';
import type { Random } from '../harness/random';

/** An operation of a caller. Its body is unique in the run, so that its log entries can be identified. */
export interface ChaosOperation {
  readonly number: number;
  readonly name: OperationName;
  readonly body: string;
  /** Without a key each try is a push of its own. */
  readonly idempotencyKey: string | undefined;
}

export interface World {
  /** Portal users. */
  readonly usernames: readonly string[];
  /** How many keys all callers use often, and how many they use rarely. */
  readonly hotKeys: number;
  readonly coldKeys: number;
}

const KINDS = [
  ['upsert', 50],
  ['status', 25],
  ['reopen', 8],
  ['delete', 7],
  ['notice', 6],
  ['invalid', 4],
] as const;
const STATUSES = ['PENDING', 'PROCESSING', 'DONE', 'CLOSED', 'REJECTED', 'ON_HOLD'];
const ROLES = ['ASSIGNEE', 'CC', 'RECIPIENT'];
/** 2024-01-01T00:00:00Z. The clock of a source advances about a second per operation. */
const EPOCH = 1_704_067_200_000;
const DISORDER = 20_000;

/** @param externalId of the matter; drawn at random if absent */
export type NextOperation = (externalId?: string) => ChaosOperation;

/** @returns a function that draws the next operation of one caller */
export function createOperations(random: Random, caller: number, world: World): NextOperation {
  let drawn = 0;
  return (externalId = keyOf(random, world)) => {
    drawn += 1;
    const number = caller * 1_000_000 + drawn;
    const kind = random.weighted(KINDS);
    const name = kind === 'notice' || kind === 'invalid' ? 'upsert' : kind;
    const fields = {
      ...bodyOf(kind, number, { externalId, random, world }),
      ...timeOf(random, drawn),
    };
    const keyed = kind === 'notice' || random.real(0, 1) < 0.85;
    return {
      number,
      name,
      body: JSON.stringify(fields),
      idempotencyKey: keyed ? `op-${number}` : undefined,
    };
  };
}

function bodyOf(
  kind: (typeof KINDS)[number][0],
  number: number,
  { externalId, random, world }: { externalId: string; random: Random; world: World },
): Record<string, unknown> {
  const mark = `op ${number}`;
  switch (kind) {
    case 'upsert':
      return { externalId, matterType: 'TODO', title: mark, ...detailsOf(random, world) };
    case 'notice':
      return { matterType: 'NOTICE', title: mark, ...detailsOf(random, world) };
    case 'invalid':
      return { externalId, matterType: random.pick(['TODO', 'TASK']), title: null, summary: mark };
    case 'status':
    case 'reopen':
      return { externalId, externalStatusLabel: mark, ...statusOf(random, kind, world) };
    case 'delete':
      // The service ignores this unknown field. It makes the body unique.
      return { externalId, mark };
    default:
      return kind satisfies never;
  }
}

function keyOf(random: Random, { hotKeys, coldKeys }: World): string {
  const isHot = random.real(0, 1) < 0.5;
  return isHot ? `HOT-${random.whole(1, hotKeys)}` : `COLD-${random.whole(1, coldKeys)}`;
}

function detailsOf(random: Random, { usernames }: World): Record<string, unknown> {
  const [sent, others] = split(random.shuffled(usernames), random.whole(1, 4));
  const parties = sent.map((username) => ({ username, partyRole: random.pick(ROLES) }));
  const replaceParties = random.real(0, 1) < 0.5;
  const isMerged = random.real(0, 1) < 0.6;
  return {
    ...(isMerged && { parties, replaceParties }),
    ...(!(isMerged && replaceParties) && removalsOf(random, others)),
    ...(random.real(0, 1) < 0.5 && { bizStatus: random.pick(STATUSES) }),
    ...(random.real(0, 1) < 0.3 && { priority: random.pick(['LOW', 'HIGH', 'URGENT', 'SOON']) }),
    ...(random.real(0, 1) < 0.3 && { content: 'x'.repeat(random.whole(0, 2_000)) }),
    ...(random.real(0, 1) < 0.2 && { summary: null }),
    ...(random.real(0, 1) < 0.2 && { payloadJson: JSON.stringify({ n: random.whole(0, 9) }) }),
  };
}

const split = <T>(all: readonly T[], at: number) => [all.slice(0, at), all.slice(at)] as const;

/** Now and then some users leave, in one role or in all. The matter may not have them. */
function removalsOf(random: Random, usernames: readonly string[]): Record<string, unknown> {
  if (random.real(0, 1) > 0.3) return {};
  const removeParties = usernames.slice(0, random.whole(0, 3)).map((username) => ({
    username,
    ...(random.real(0, 1) < 0.5 && { partyRole: random.pick(ROLES) }),
  }));
  return { removeParties };
}

function statusOf(
  random: Random,
  kind: 'status' | 'reopen',
  { usernames }: World,
): Record<string, unknown> {
  return {
    ...(kind === 'status' && removalsOf(random, random.shuffled(usernames))),
    ...((kind === 'status' || random.real(0, 1) < 0.3) && { bizStatus: random.pick(STATUSES) }),
    ...(random.real(0, 1) < 0.3 && { resetAssigneeUnread: random.real(0, 1) < 0.5 }),
  };
}

/** A third of the operations have times, not always in order. */
function timeOf(random: Random, drawn: number): Record<string, unknown> {
  if (random.real(0, 1) > 0.33) return {};
  const instant = EPOCH + drawn * 1_000 + random.whole(-DISORDER, DISORDER);
  return { sourceUpdatedAt: new Date(instant).toISOString() };
}
