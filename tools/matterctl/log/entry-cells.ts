/** What lists of the push log show of an entry. */
import type { ShownEntry } from '../source/log-source';

/** The outcome or reason, or that it is not settled; and what is special about it. */
export function resultText({ state, outcome, reason, mark }: ShownEntry): string {
  const notes = [state === 'REPLAYED' && 'replayed', mark === 'KEY_REUSED' && 'key reused'];
  const told = notes.filter((note) => note !== false).join(', ');
  const result = outcome ?? reason ?? state;
  return told === '' ? result : `${result} (${told})`;
}

/** Milliseconds from receipt to settlement; null: not settled. Two machines may have said when. */
export function totalTime({ receivedAt, settledAt }: ShownEntry): number | null {
  if (settledAt === null) return null;
  return Math.max(0, Date.parse(settledAt) - Date.parse(receivedAt));
}

/** Only the system where the log does not know the matter: of most rejected bodies. */
export function matterName({ systemCode, externalId }: ShownEntry): string {
  const system = systemCode ?? '-';
  return externalId === null ? system : `${system}/${externalId}`;
}
