/** A query key of the console, as an operator makes it. */
import { matterctl } from './cli-tool';
import type { SharedService } from './service';
import { until } from './wait';

export interface ConsoleKey {
  readonly clientId: string;
  readonly key: string;
  readonly keyId: string;
}

/** @param options `--may-push`, `--ttl` */
export async function makeConsoleKey(
  { env, clientId, push }: Pick<SharedService, 'env' | 'clientId' | 'push'>,
  ...options: string[]
): Promise<ConsoleKey> {
  const args = ['client', 'console', clientId, ...options, '--json'];
  const { stdout, stderr } = await matterctl(args, {
    env: { ...env, PUBLIC_URL: 'http://portal.test/' },
  });
  if (stdout === '') throw new Error(stderr);
  const { keyId, link } = JSON.parse(stdout);
  const fragment = new URLSearchParams(new URL(link).hash.slice(1));
  const secret = String(fragment.get('key'));
  // For a tenth of a second after another one was made it is unknown: a page would take it for a wrong one.
  await until('the key to be known', async () => {
    const { code } = await push('', {}, { path: '/api/open/clients/me', clientId, secret });
    return code === 0;
  });
  return { keyId, clientId, key: secret };
}
