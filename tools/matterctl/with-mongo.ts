/** A connection for the length of one command. */
import type { Connection } from 'mongoose';
import { serversOf } from '../../src/runtime/mongo-url';
import type { DatabaseSetupError } from '../../src/storage/mongo';
import { CommandFailure } from './failure';
import type { ChosenServer, Tool } from './tool';

export interface DatabaseOptions {
  readonly json?: boolean;
  readonly mongoUrl?: string;
  /** The URL that was read from it. */
  readonly mongoUrlFile?: string;
}

/** @throws CommandFailure where the database cannot be reached: it names its servers */
export async function withMongo<T>(
  tool: Tool,
  options: DatabaseOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const server = serverOf(tool, options);
  const { connectMongo, DatabaseSetupError } = await import('../../src/storage/mongo.js');
  const connection = await connectMongo(server.url).catch((error) => {
    throw error instanceof DatabaseSetupError ? unusable(server, error) : error;
  });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** @throws CommandFailure where nothing tells which one */
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

/** In place of the service's own message, which names a variable that may never have been set. */
function unusable({ url, chosen }: ChosenServer, error: DatabaseSetupError): CommandFailure {
  const why = error.cause instanceof Error ? error.cause.message : error.message;
  return new CommandFailure(
    `the database at ${serversOf(url)} (${chosen}) cannot be used: ${why.replace(/\s*\n\s*/g, ' ')}`,
  );
}
