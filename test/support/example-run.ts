/** Examples of callers in other languages, run as a user runs them: in a copy, with little of this environment. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killGroup } from '../../tools/local/waiting';

/** Go and Java compile first, where nothing is cached yet. */
const PROCESS_MS = 300_000;
const SAYS_VERSION: Readonly<Record<string, string>> = { go: 'version', openssl: 'version' };

/** How a command ended, with its whole output. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A copy of an example's folder; everything that its tools cache goes with it. */
export interface ExampleCopy {
  /** The temporary folder, with the copy in `folder/name`. */
  readonly folder: string;
  readonly copy: string;
  /** The little that every command gets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @param env added to `env` of the copy */
  run(command: string, env?: Readonly<Record<string, string>>, input?: string): Promise<Ended>;
  remove(): void;
}

/** @param source the folder of the example */
export function copyExample(source: string): ExampleCopy {
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-example-'));
  const copy = join(folder, 'example');
  cpSync(source, copy, { recursive: true });
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    TMPDIR: folder,
    GOCACHE: join(folder, 'go-cache'),
    GOTOOLCHAIN: 'local',
    DOTNET_CLI_TELEMETRY_OPTOUT: '1',
    DOTNET_NOLOGO: '1',
    // Build servers would outlive the test.
    MSBUILDDISABLENODEREUSE: '1',
    UseSharedCompilation: 'false',
  };
  return {
    folder,
    copy,
    env,
    run: (command, more = {}, input = '') =>
      runToEnd(command, { cwd: copy, env: { ...env, ...more }, input }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

interface How {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input: string;
}

function runToEnd(command: string, { cwd, env, input }: How): Promise<Ended> {
  const [program = '', ...args] = command.split(' ');
  return new Promise((resolve, reject) => {
    // A group of its own: `go run` and `dotnet run` start the example as a process beside them.
    const child = spawn(program, args, { cwd, env, detached: true });
    const timer = setTimeout(() => killGroup(child.pid), PROCESS_MS);
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, ...output });
    });
    // One that ends without reading its input breaks the pipe, and is judged by how it ended.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/**
 * @param needs tools and their lowest major versions
 * @returns the tools that are missing or older; empty if all are there
 */
export function missingTools(
  needs: Readonly<Record<string, number>>,
  env: NodeJS.ProcessEnv,
): string {
  const isMissing = ([tool, lowest]: [string, number]) => {
    const args = [SAYS_VERSION[tool] ?? '--version'];
    const options = { env, encoding: 'utf8', timeout: 120_000 } as const;
    const { status, stdout } = spawnSync(tool, args, options);
    const [major] = /\d+/.exec(stdout ?? '') ?? [];
    return status !== 0 || Number(major) < lowest;
  };
  const missing = Object.entries(needs).filter(isMissing);
  return missing.map(([tool, lowest]) => `${tool} ${lowest}`).join(', ');
}
