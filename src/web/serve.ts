/** Serves clients on HOST and PORT until the process drains. */
import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrokenRequest } from '../http/broken-request';
import type { HealthProbe } from '../http/health';
import { listen } from '../http/http-server';
import type { Config } from '../runtime/config';
import { foldedLog } from '../runtime/folded-log';
import type { Lifecycle } from '../runtime/lifecycle';
import type { Logger } from '../runtime/logger';

export interface Serving {
  readonly config: Config;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

/** @returns the URL. @throws Error naming HOST and PORT */
export async function serve(
  { config, logger, lifecycle }: Serving,
  handler: RequestListener,
  health: HealthProbe,
): Promise<string> {
  const tell = foldedLog(logger);
  const report = ({ reason, code, ...details }: BrokenRequest) =>
    tell({ level: 'info', text: 'rejected', reason, code }, details);
  const server = await listen(handler, {
    host: config.HOST,
    port: config.PORT,
    keepAlive: config.KEEP_ALIVE_TIMEOUT,
    pathPrefix: pathPrefixOf(config.PUBLIC_URL),
    report,
  });
  lifecycle.onDrain('server', async () => {
    health.leave();
    // Wait until the load balancer has noticed: a closed port would reject its clients.
    await sleep(config.DRAIN_DELAY);
    health.drain();
    await server.close();
  });
  return server.url;
}

/** The path of PUBLIC_URL without the slash at its end; empty for the root. */
export const pathPrefixOf = (publicUrl: string): string =>
  publicUrl === '' ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
