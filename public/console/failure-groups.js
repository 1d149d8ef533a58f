/** Failed matters by reason and field. Pure. */

/** @typedef {import('./shapes').FailedRow} FailedRow */
/**
 * @typedef {object} Group
 * @property {string} reason
 * @property {string | null} field null: of no field
 * @property {number} matters
 * @property {number} stillFailed of these, matters
 * @property {number} pushes
 * @property {string} firstSeen
 * @property {string} lastSeen
 */

/** Where there is no field, in an address. */
export const NO_FIELD = '-';

/** What pushes of one matter have in common: it, else client, operation and key, else nothing. */
export const subjectOf = (
  /** @type {Pick<FailedRow, 'requestId' | 'clientId' | 'operation' | 'externalId' | 'idempotencyKey'>} */ {
    requestId,
    clientId,
    operation,
    externalId,
    idempotencyKey,
  },
) => {
  if (externalId !== null) return JSON.stringify([externalId]);
  return JSON.stringify(
    idempotencyKey === null ? [null, requestId] : [clientId, operation, idempotencyKey],
  );
};

/**
 * Pages are of stretches of time: a matter may be on more than one, and its newest failure is what counts.
 *
 * @param {readonly FailedRow[]} rows the newest first @param {readonly FailedRow[]} older
 * @returns {FailedRow[]}
 */
export function withOlder(rows, older) {
  const bySubject = new Map(rows.map((row) => [subjectOf(row), row]));
  for (const row of older) {
    const name = subjectOf(row);
    const known = bySubject.get(name);
    const failures = (known?.failures ?? 0) + row.failures;
    bySubject.set(name, known ? { ...known, failures, firstSeen: row.firstSeen } : row);
  }
  return [...bySubject.values()];
}

/** By what the last failure of each matter was; one with several fields is counted with each. @param {readonly FailedRow[]} rows @returns {Group[]} */
export function groupsOf(rows) {
  const groups = new Map(/** @type {[string, Group][]} */ ([]));
  for (const row of rows) {
    const { reason, fields, firstSeen, lastSeen } = row;
    for (const field of fields.length > 0 ? fields : [null]) {
      const name = JSON.stringify([reason, field]);
      const group = groups.get(name);
      const before = group ?? { matters: 0, stillFailed: 0, pushes: 0, firstSeen, lastSeen };
      groups.set(name, {
        reason,
        field,
        matters: before.matters + 1,
        stillFailed: before.stillFailed + (row.mended === null ? 1 : 0),
        pushes: before.pushes + row.failures,
        firstSeen: before.firstSeen < firstSeen ? before.firstSeen : firstSeen,
        lastSeen: before.lastSeen > lastSeen ? before.lastSeen : lastSeen,
      });
    }
  }
  return [...groups.values()].sort(
    (a, b) => b.stillFailed - a.stillFailed || b.matters - a.matters,
  );
}

/**
 * @param {FailedRow} row
 * @param {string} reason
 * @param {string} field as it stands in the address; empty: any
 */
export const isOf = (row, reason, field) =>
  row.reason === reason &&
  (field === '' || (field === NO_FIELD ? row.fields.length === 0 : row.fields.includes(field)));
