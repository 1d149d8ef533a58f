import type { Command } from 'commander';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { zonedTime } from '../local-time';
import { toServiceUrl, toSpan, withOperator } from '../option-values';
import { note, printJson, printLine } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

interface Options extends ChangeOptions {
  /** Milliseconds. */
  readonly ttl: number;
  readonly mayPush?: boolean;
  /** False with --no-bodies. */
  readonly bodies?: boolean;
  readonly url?: string;
}

const WORKING_DAY = 8 * 3_600_000;

/**
 * `client console` prints a link to /console with a new query key in the fragment, which browsers never send to a
 * server.
 */
export function addClientConsole(parent: Command, tool: Tool): void {
  const command = parent
    .command('console')
    .description('make a query key for people in a browser and print a link with it, once')
    .argument('<clientId>')
    .option('--ttl <span>', 'how long it works, 1m to 30d, e.g. 30m, 8h (default: 8h)', toSpan)
    .option('--may-push', 'allow pushes too; without this option the key only allows queries')
    .option('--no-bodies', 'answers omit titles, contents, payloads and stored bodies')
    .option(
      '--url <url>',
      'where people reach the service (default: PUBLIC_URL, else the running npm start)',
      toServiceUrl,
    );
  withOperator(command).action((clientId: string, options: Partial<Options>) =>
    makeLink(clientId, { ttl: WORKING_DAY, ...options }, tool),
  );
}

async function makeLink(clientId: string, options: Options, tool: Tool): Promise<void> {
  // Before the key is created, because a key whose link cannot be printed would have to be revoked.
  const base = options.url ?? tool.settings.publicUrl();
  const keyRing = createKeyRing(tool.settings.secretKeys());
  const { ttl, mayPush = false, bodies = true } = options;
  const scopes = mayPush ? ['query', 'push'] : ['query'];
  const change = {
    command: 'client console',
    subject: clientId,
    clientId,
    details: { ttlSeconds: ttl / 1_000, scopes, bodies },
  };
  const made = await withTrail(tool, options, change, async (connection, recordResult) => {
    const { createClientAdmin } = await import('../../../src/storage/directory.js');
    const admin = createClientAdmin(connection, keyRing, Date.now);
    const { key, keyId, endsAt } = await admin.addQueryKey(clientId, {
      ...{ ttl, mayPush },
      noBodies: !bodies,
    });
    recordResult({ secretId: keyId, endsAt: endsAt.toISOString() });
    return { key, keyId, endsAt: endsAt.toISOString() };
  });
  const { key, keyId, endsAt } = made;
  const link = `${base}/console#${new URLSearchParams({ client: clientId, key })}`;
  if (options.json) await printJson(tool.stdout, { clientId, keyId, scopes, bodies, endsAt, link });
  else await printLine(tool.stdout, link);
  const timeZone = tool.settings.timeZone();
  const end = zonedTime(endsAt, timeZone);
  note(
    tool.stderr,
    `The link ${mayPush ? 'allows pushes and queries' : 'allows queries'}${bodies ? '' : ' without titles and bodies'} as ${clientId} until ${end}. To end it earlier: matterctl client revoke ${clientId} ${keyId}`,
  );
}
