/** The clients and the portal users of a run. */
import type { Connection } from 'mongoose';
import type { Config } from '../../src/infra/config';
import { createClientAdmin, importUsers } from '../../src/storage/directory';
import { createKeyRing } from '../../src/storage/directory/sealing';
import { prepareDatabase } from '../../src/storage/schema';
import { SECRET_KEYS } from './app';

export interface DirectoryClient {
  readonly clientId: string;
  readonly systemCode: string;
  readonly secret: string;
}

export const USERNAMES: readonly string[] = [
  ...['alice', 'bob', 'carol', 'dave', 'erin', 'frank'],
  ...['grace', 'heidi', 'ivan', 'judy', 'mallory', 'niaj'],
];

/** Two clients have the same system, so that they push to the same keys. */
const CLIENTS = [
  { clientId: 'crm-a', systemCode: 'CRM' },
  { clientId: 'crm-b', systemCode: 'CRM' },
  { clientId: 'hr', systemCode: 'HR' },
  { clientId: 'oa', systemCode: 'OA' },
];

/** Prepares an empty database, and creates the users and the clients in it. */
export async function fillDirectory(db: Connection, config: Config): Promise<DirectoryClient[]> {
  await prepareDatabase(db, {
    retention: config.PUSH_LOG_RETENTION,
    bodyRetention: config.PUSH_BODY_RETENTION,
    concluded: config.CONCLUDED_STATUSES,
  });
  const users = USERNAMES.map((username) => ({ username, displayName: username.toUpperCase() }));
  await importUsers(db, users);
  return createClients(db, CLIENTS);
}

/** @returns the clients with their secrets, in the same order */
export async function createClients(
  db: Connection,
  clients: readonly Omit<DirectoryClient, 'secret'>[],
): Promise<DirectoryClient[]> {
  const admin = createClientAdmin(db, createKeyRing([SECRET_KEYS]), Date.now);
  const created: DirectoryClient[] = [];
  for (const client of clients) {
    const { secret } = await admin.create(client);
    created.push({ ...client, secret: secret ?? '' });
  }
  return created;
}
