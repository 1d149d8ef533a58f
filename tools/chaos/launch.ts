/** How the processes of a cluster are started, the first time and every other time. */
import { join } from 'node:path';
import { startApp } from '../local/app-process';
import { freePort } from '../local/ports';
import { type Member, startMember } from './member';

export interface ClusterWeb extends Member {
  /** The same after every restart. */
  readonly url: string;
}

/** What every start needs. */
export interface Ground {
  /** The project's folder. */
  readonly root: string;
  /** For data and logs. */
  readonly folder: string;
  crashed(what: string): void;
  /** No new start after this. */
  readonly signal: AbortSignal;
}

export interface AppGround extends Ground {
  /** Of the process with a name. */
  readonly envOf: (name: string) => NodeJS.ProcessEnv;
  /** Milliseconds. */
  readonly drainMs: number;
}

/** A web process on a port that it keeps. */
export async function launchWeb(name: string, ground: AppGround): Promise<ClusterWeb> {
  const port = await freePort();
  const envOf = (of: string) => ({ ...ground.envOf(of), PORT: String(port) });
  const member = await launchApp(name, 'dist/src/web.js', { ...ground, envOf });
  return { ...member, url: `http://127.0.0.1:${port}` };
}

export function launchWorker(name: string, ground: AppGround): Promise<Member> {
  return launchApp(name, 'dist/workers/main.js', ground);
}

function launchApp(name: string, script: string, ground: AppGround): Promise<Member> {
  const { root, folder, envOf, drainMs, signal } = ground;
  const logFile = join(folder, 'logs', `${name}.log`);
  const app = { name, script: join(root, script), env: envOf(name), logFile, drainMs, signal };
  return startMember({ ...ground, name, logFile, launch: () => startApp(app) });
}
