/** Opens the sources of one command, and closes them afterwards. */
import { isFromElsewhere, MatterPushError } from '../../client/error';
import type { MatterPushClient } from '../../client/matter-push-client';
import { CommandFailure, usageFailure } from '../failure';
import type { Tool } from '../tool';
import { withMongo } from '../with-mongo';
import { type Signer, type SourceOptions, signerOf } from './options';
import type { Sources } from './sources';

/** Retries of a query: few, because a user waits at the terminal. */
const RETRIES = 4;

/** @throws CommandFailure if the database or the service cannot be reached; the message names it */
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

interface SignedSource {
  readonly signer: Signer;
  readonly timeZone: string;
  readonly systemCode: string | undefined;
}

function withSigned<T>(
  { signer, timeZone, systemCode }: SignedSource,
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
 * If a client reads from the service, replaces the time zone and the concluded statuses of the tool with those of the
 * service. A command that interprets a file as the service does must not use the settings of this machine.
 *
 * @throws CommandFailure if the service cannot be reached; the message names it
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

/**
 * Runs `work` with a client of the service.
 *
 * @throws CommandFailure if the service cannot be reached or rejects a query; the message names it
 */
export async function asClient<T>(
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
 * A client sees only its own system, so a command that names another system is wrong.
 *
 * @param asked the system that the command names; undefined: the system of the client
 * @throws CommandFailure if the client belongs to another system
 */
async function checkSystem(
  named: string | undefined,
  client: Pick<MatterPushClient, 'query'>,
): Promise<void> {
  if (named === undefined) return;
  const { clientId, systemCode } = await client.query('clients/me', {});
  if (named === systemCode) return;
  throw usageFailure(
    `${clientId} belongs to the system ${systemCode} and sees nothing of ${named}`,
  );
}
