/** Connects to the database for one command. */
import type { Connection } from 'mongoose';
import type { DatabaseSetupError } from '../../src/infra/mongo';
import { serversOf } from '../../src/infra/mongo-url';
import { CommandFailure } from './failure';
import type { ChosenServer, Tool } from './tool';

export interface DatabaseOptions {
  readonly json?: boolean;
  readonly mongoUrl?: string;
  /** The URL that the file of this option contains. */
  readonly mongoUrlFile?: string;
}

/**
 * Runs `work` with a connection.
 *
 * @throws CommandFailure if the database cannot be used; the message names its servers
 */
export async function withMongo<T>(
  tool: Tool,
  options: DatabaseOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const server = serverOf(tool, options);
  const { connectMongo, DatabaseSetupError } = await import('../../src/infra/mongo.js');
  const connection = await connectMongo(server.url).catch((error) => {
    throw error instanceof DatabaseSetupError ? unusable(server, error) : error;
  });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** The database of a command. @throws CommandFailure if neither the options nor the settings name one */
export function serverOf(
  { settings }: Tool,
  { mongoUrl, mongoUrlFile }: DatabaseOptions,
): ChosenServer {
  if (mongoUrl !== undefined) return { url: mongoUrl, chosen: 'from --mongo-url' };
  if (mongoUrlFile !== undefined) {
    return { url: mongoUrlFile, chosen: 'from the file of --mongo-url-file' };
  }
  return settings.mongo();
}

/** Replaces the message of DatabaseSetupError, because it names MONGO_URL, which the user may not have set. */
function unusable({ url, chosen }: ChosenServer, error: DatabaseSetupError): CommandFailure {
  const why = error.cause instanceof Error ? error.cause.message : error.message;
  return new CommandFailure(
    `the database at ${serversOf(url)} (${chosen}) cannot be used: ${why.replace(/\s*\n\s*/g, ' ')}`,
  );
}
