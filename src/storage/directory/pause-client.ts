/** Pausing a client and letting it push again: by `matterctl queue`, and by the operator's screen. */
import type { Connection } from 'mongoose';
import { systemClock } from '../../concurrency/clock';
import type { Action } from '../audit/trail';
import { createClientAdmin } from './client-admin';
import { createKeyRing } from './sealing';

export interface PauseChange {
  readonly clientId: string;
  readonly paused: boolean;
  /** Told to the client, at most 200 characters. */
  readonly reason?: string | undefined;
}

/** What the audit trail says of it. */
export const pauseAction = ({
  clientId,
  paused,
  reason,
}: PauseChange): Omit<Action, 'operator' | 'host'> => ({
  command: `queue ${paused ? 'pause' : 'resume'}`,
  subject: clientId,
  clientId,
  details: reason === undefined ? {} : { reason },
});

/** @throws DirectoryError where there is no such client, or the reason is no line of 1 to 200 characters */
export async function setPaused(
  connection: Connection,
  { clientId, paused, reason }: PauseChange,
): Promise<void> {
  const admin = createClientAdmin(connection, createKeyRing([]), systemClock);
  await (paused ? admin.pause(clientId, reason) : admin.resume(clientId));
}
