/** The outbox example with a PostgreSQL server and a service, and relays that a test starts and kills. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GuardedProgram, startGuarded } from '../../tools/local/process-guard';
import { copyExample, type Ended, missingTools } from './example-run';
import { type Postgres, startPostgres } from './postgres';
import { type Service, startService } from './service';
import { until } from './wait';

const EXAMPLE = join(__dirname, '../../examples/outbox');
const BUILD = 'javac --release 8 -Xlint:all,-options,-serial -Werror -d classes Outbox.java';
const KILL_MS = 2_000;
const WAIT_MS = 600_000;

export interface OutboxRig {
  readonly db: Postgres;
  readonly service: Service;
  /** Runs `Outbox` with these arguments to its end. */
  outbox(args: string): Promise<Ended>;
  /** @param url where it sends its batches; by default to the service */
  startRelay(url?: string): Promise<GuardedProgram>;
  untilNoneWaits(): Promise<void>;
  /** What all relays have printed. */
  printed(): string;
  stop(): Promise<void>;
}

/** @returns the tools that the example needs and this machine lacks; empty if all are there */
export const missingForOutbox = (): string =>
  missingTools({ java: 11, javac: 11 }, { PATH: process.env.PATH });

/** Compiles the example for JDK 8 and starts the servers, with the tables of `outbox.sql`. */
export async function startOutboxRig(): Promise<OutboxRig> {
  const { copy, folder, env, run, remove } = copyExample(EXAMPLE);
  const built = await run(BUILD);
  if (built.code !== 0) throw new Error(`the example does not compile: ${built.stderr}`);
  const service = await startService({ processes: true });
  const db = await startPostgres().catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
  await db.query(readFileSync(join(copy, 'outbox.sql'), 'utf8'));
  const settings = (url: string) => ({
    JDBC_URL: db.jdbcUrl,
    MATTER_PUSH_URL: url,
    CLIENT_ID: service.clientId,
    CLIENT_SECRET: service.secret,
    // Java decodes its arguments by the locale.
    LC_ALL: 'C.UTF-8',
  });
  const java = ['-XX:TieredStopAtLevel=1', '-cp', `classes:${db.driver}`, 'Outbox'];
  const log = join(folder, 'relays.log');
  const relays: GuardedProgram[] = [];
  return {
    db,
    service,
    outbox: (args) => run(['java', ...java, args].join(' '), settings(service.urlOf())),
    startRelay: async (url = service.urlOf()) => {
      const output = openSync(log, 'a');
      const more = { output, cwd: copy, env: { ...env, ...settings(url) } };
      const relay = await startGuarded('java', [...java, 'relay'], more).finally(() =>
        closeSync(output),
      );
      relays.push(relay);
      return relay;
    },
    untilNoneWaits: () => untilNoneWaits(db),
    printed: () => readFileSync(log, 'utf8'),
    stop: async () => {
      await Promise.all(relays.map((relay) => relay.stop(KILL_MS)));
      await Promise.all([db.stop(), service.stop()]);
      remove();
    },
  };
}

async function untilNoneWaits(db: Postgres): Promise<void> {
  const count = "SELECT count(*) FROM outbox WHERE state = 'waiting'";
  await until('no row to wait', async () => (await db.query(count))[0]?.[0] === '0', WAIT_MS);
}
