/**
 * The help desk's log as pushes, and what it must come to: a fold of its own, line by line, that
 * shares nothing with the product's.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.resolve(__dirname, '../../../shared/data');
export const PUSHES = path.join(FOLDER, 'helpdesk-pushes.ndjson');
export const USERS = path.join(FOLDER, 'helpdesk-users.csv');

/** Whether the data is there; a test that needs it says loudly where it is not. */
export const hasHelpdesk = existsSync(PUSHES) && existsSync(USERS);

type Fields = Record<string, unknown>;
interface Line {
  op: 'upsert' | 'status' | 'delete';
  body: Fields & { externalId: string; sourceUpdatedAt: string; parties: Fields[] };
}

/** By externalId: the fields that an export must show. Written from the contract alone. */
export function foldHelpdesk(): Map<string, Fields> {
  const names = new Map(
    readFileSync(USERS, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.trim().split(',') as [string, string]),
  );
  const ledger = new Map<string, Fields>();
  for (const text of readFileSync(PUSHES, 'utf8').trim().split('\n')) {
    const { op, body }: Line = JSON.parse(text);
    const old = ledger.get(body.externalId);
    const stamp = new Date(body.sourceUpdatedAt).toISOString();
    if (old && String(old.sourceUpdatedAt) > stamp) continue;
    if (op === 'delete') {
      ledger.set(body.externalId, { ...old, deleted: true, sourceUpdatedAt: stamp });
    } else if (op === 'status') {
      ledger.set(body.externalId, { ...old, ...body, sourceUpdatedAt: stamp });
    } else {
      const { replaceParties: _, ...fields } = body;
      const unread = (who: unknown) =>
        ((old?.parties ?? []) as Fields[]).find(({ username }) => username === who)?.unread ?? true;
      const parties = body.parties.map((party) => ({
        ...party,
        displayName: names.get(String(party.username)),
        unread: unread(party.username),
      }));
      ledger.set(body.externalId, {
        ...old,
        ...fields,
        parties,
        deleted: false,
        sourceUpdatedAt: stamp,
      });
    }
  }
  return ledger;
}
