/** What a command reads, for the length of one command: of the database, or of the signed queries. */
import { isFromElsewhere, MatterPushError } from '../../client/error';
import type { MatterPushClient } from '../../client/matter-push-client';
import { CommandFailure, EXIT_USAGE } from '../failure';
import type { Tool } from '../tool';
import { withMongo } from '../with-mongo';
import { type Signer, type SourceOptions, signerOf } from './options';
import type { Sources } from './sources';

/** Tries after the first: somebody waits at a terminal. */
const RETRIES = 4;

/** @throws CommandFailure where the database or the service cannot be reached: it is named */
export async function withSources<T>(
  tool: Tool,
  options: SourceOptions,
  work: (sources: Sources) => Promise<T>,
): Promise<T> {
  const timeZone = tool.settings.timeZone();
  const signer = await signerOf(options, tool);
  if (signer) return withSigned({ signer, timeZone, systemCode: options.systemCode }, work);
  return withMongo(tool, options, async (connection) => {
    const { createDatabaseLog, createDatabaseMatters } = await import('./database.js');
    const matters = createDatabaseMatters(connection, timeZone);
    return work({ log: createDatabaseLog(connection, tool), matters });
  });
}

interface Asking {
  readonly signer: Signer;
  readonly timeZone: string;
  readonly systemCode: string | undefined;
}

function withSigned<T>(
  { signer, timeZone, systemCode }: Asking,
  work: (sources: Sources) => Promise<T>,
): Promise<T> {
  return asClient(signer, async (client) => {
    await checkSystem(systemCode, client);
    const { createSignedLog, createSignedMatters } = await import('./signed.js');
    const matters = createSignedMatters({ client, signer, timeZone });
    return work({ log: createSignedLog(client), matters });
  });
}

/**
 * The tool with the time zone and the concluded statuses of the service, where it is asked at all:
 * what reads a file as the service does must not go by settings of this machine.
 *
 * @throws CommandFailure where the service cannot be reached: it is named
 */
export async function withServiceRules(options: SourceOptions, tool: Tool): Promise<Tool> {
  const signer = await signerOf(options, tool);
  if (!signer) return tool;
  const { timeZone, concludedStatuses } = await asClient(signer, (client) =>
    client.query('clients/me', {}),
  );
  const concluded = new Set(concludedStatuses);
  return {
    ...tool,
    settings: { ...tool.settings, timeZone: () => timeZone, concluded: () => concluded },
  };
}

async function asClient<T>(
  signer: Signer,
  work: (client: MatterPushClient) => Promise<T>,
): Promise<T> {
  const { createMatterPushClient } = await import('../../client/matter-push-client.js');
  const client = createMatterPushClient({ ...signer, retries: RETRIES });
  try {
    return await work(client);
  } catch (error) {
    throw error instanceof MatterPushError ? rejected(error, signer) : error;
  } finally {
    await client.close();
  }
}

function rejected(error: MatterPushError, { url, clientId }: Signer): CommandFailure {
  const { code, reason, message } = error;
  if (isFromElsewhere(error)) {
    return new CommandFailure(`${message}; is --url the address of the service?`);
  }
  if (code === 0) {
    return new CommandFailure(`the service at ${url} cannot be reached: ${reason} ${message}`);
  }
  const hint = code === 401 || code === 403 ? '; "matterctl doctor" finds out why' : '';
  return new CommandFailure(
    `the service at ${url} rejects what ${clientId} asks: ${code} ${reason} ${message}${hint}`,
  );
}

/**
 * A client sees nothing but its own system: asking it for another one is a mistake to be told.
 *
 * @param asked the system that a command names; undefined: that of the client
 * @throws CommandFailure where the client belongs to another one
 */
async function checkSystem(
  asked: string | undefined,
  client: Pick<MatterPushClient, 'query'>,
): Promise<void> {
  if (asked === undefined) return;
  const { clientId, systemCode } = await client.query('clients/me', {});
  if (asked === systemCode) return;
  throw new CommandFailure(
    `${clientId} belongs to the system ${systemCode} and sees nothing of ${asked}`,
    EXIT_USAGE,
  );
}
