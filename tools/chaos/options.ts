/** The command line of `npm run chaos`. */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { REDIS_FORMS, type RedisForm } from '../harness/redis-group';
import { isMechanism, MECHANISMS, type Mechanism } from './mechanisms';

export const HELP = `npm run chaos -- [options]

Starts its own servers and processes, causes faults from a seed, and checks every answer to every
caller. Processes and servers are killed, stopped, cut off and failed over. One process alone loses
one server (its data is dropped, or its connections are refused). Redis is emptied after a worker has
read a batch and before it has loaded the matters. All faults: docs/reliability.md
  --seed S        repeats the faults and the operations of the run with that seed
  --minutes M     minutes with faults (default 10)
  --pace P        1 causes a fault every 2.3 s on average, 2 twice as many (default 0.3)
  --callers N     callers that push at the same time (default 128)
  --batches S     share of the pushes in batches of 1 to 50 lines, 0 to 1 (default 0.5)
  --webs N        web processes (default 2)
  --workers N     worker processes (default 3)
  --skew S        maximum error of the clocks of the processes, in seconds (default 240)
  --redis FORM    single (one address), sentinel (a primary, two replicas, three sentinels) or cluster
                  (three primaries, three replicas); the servers of a group fail over (default single)
  --no-kill-sessions
                  the database always rejects killSessions, as some hosted servers do
  --break NAME    runs without a mechanism, with the one fault that needs it: the check must report a
                  violation. The options above do not apply. Mechanisms:
                  ${Object.keys(MECHANISMS).join(', ')}

Measurements without a check:
  --recovery      how long callers notice the death of a worker, of Redis, of the database
  --kills N       kills of workers (default 50)
  --restarts N    kills of Redis, and of the database (default 5)
  --cut-off       how long callers notice that one worker is cut off from the database
  --cuts N        cuts with hanging connections, and with refused connections (default 3)
  --overload      three times the load that the service can process, a database that stalls, a noisy client
  --quick         the same in a third of the time; the results are not kept

  --json          the report as one JSON object
`;

/** An invalid command line. */
export class UsageError extends Error {}

export type Mode = 'help' | 'faults' | 'recovery' | 'cut-off' | 'overload';

/** If several are given, the first of this list applies. */
const MODES = ['help', 'recovery', 'cut-off', 'overload'] as const;

export interface Options {
  readonly mode: Mode;
  readonly seed: string;
  /** Milliseconds. */
  readonly duration: number;
  /** See FaultMix. */
  readonly pace: number;
  readonly callers: number;
  /** Share of the pushes that are sent in batches: 0 to 1. */
  readonly batches: number;
  readonly webs: number;
  readonly workers: number;
  /** Maximum error of the clocks, in milliseconds. */
  readonly skew: number;
  readonly redisForm: RedisForm;
  readonly rejectsKillSessions: boolean;
  readonly broken?: Mechanism;
  readonly kills: number;
  readonly restarts: number;
  readonly cuts: number;
  readonly quick: boolean;
  readonly json: boolean;
}

/** @throws UsageError with the name of the invalid option */
export function readOptions(args: readonly string[]): Options {
  const { values } = parse(args);
  return {
    mode: MODES.find((mode) => values[mode]) ?? 'faults',
    seed: values.seed ?? randomBytes(4).toString('hex'),
    duration: positive('--minutes', values.minutes) * 60_000,
    pace: positive('--pace', values.pace, MAX_PACE),
    callers: positive('--callers', values.callers),
    batches: shareOf(values.batches),
    webs: positive('--webs', values.webs),
    workers: positive('--workers', values.workers),
    skew: skewOf(values.skew),
    redisForm: formOf(values.redis),
    rejectsKillSessions: values['no-kill-sessions'] === true,
    ...(values.break !== undefined && { broken: mechanism(values.break) }),
    kills: positive('--kills', values.kills),
    restarts: positive('--restarts', values.restarts),
    cuts: positive('--cuts', values.cuts),
    quick: values.quick === true,
    json: values.json === true,
  };
}

const MAX_PACE = 10;

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string' },
        minutes: { type: 'string', default: '10' },
        pace: { type: 'string', default: '0.3' },
        callers: { type: 'string', default: '128' },
        batches: { type: 'string', default: '0.5' },
        webs: { type: 'string', default: '2' },
        workers: { type: 'string', default: '3' },
        skew: { type: 'string', default: '240' },
        redis: { type: 'string', default: 'single' },
        'no-kill-sessions': { type: 'boolean' },
        break: { type: 'string' },
        recovery: { type: 'boolean' },
        kills: { type: 'string', default: '50' },
        restarts: { type: 'string', default: '5' },
        'cut-off': { type: 'boolean' },
        cuts: { type: 'string', default: '3' },
        overload: { type: 'boolean' },
        quick: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function positive(name: string, value: string, max = 1_000): number {
  const number = Number(value);
  if (number > 0 && number <= max) return number;
  throw new UsageError(`${name} must be a number above 0, up to ${max}, not ${value}`);
}

function shareOf(value: string): number {
  const share = Number(value);
  if (value !== '' && share >= 0 && share <= 1) return share;
  throw new UsageError(`--batches must be a number from 0 to 1, not ${value}`);
}

/** Seconds. The service accepts signatures within 300 s, including the time of transmission. */
const MAX_SKEW = 280;

function skewOf(value: string): number {
  const seconds = Number(value);
  if (value !== '' && seconds >= 0 && seconds <= MAX_SKEW) return seconds * 1_000;
  throw new UsageError(`--skew must be a number from 0 to ${MAX_SKEW}, not ${value}`);
}

function formOf(name: string): RedisForm {
  const form = REDIS_FORMS.find((known) => known === name);
  if (form) return form;
  throw new UsageError(`--redis must be one of ${REDIS_FORMS.join(', ')}, not ${name}`);
}

function mechanism(name: string): Mechanism {
  if (isMechanism(name)) return name;
  throw new UsageError(`--break: unknown mechanism ${name}`);
}
