/** A connection for the length of one command. */
import type { Connection } from 'mongoose';
import { connectMongo } from '../mongo';
import type { Tool } from './tool';

export interface DatabaseOptions {
  readonly json?: boolean;
  readonly mongoUrl?: string;
  /** The URL that was read from it. */
  readonly mongoUrlFile?: string;
}

/** @throws DatabaseSetupError where the database cannot be reached */
export async function withMongo<T>(
  { settings }: Tool,
  { mongoUrl, mongoUrlFile }: DatabaseOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connectMongo(mongoUrl ?? mongoUrlFile ?? settings.mongoUrl());
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}
