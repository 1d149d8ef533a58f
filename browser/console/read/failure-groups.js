/** Failed matters by reason and field. Pure. */

/** @typedef {import('./shapes').FailedRow} FailedRow */
/**
 * @typedef {object} Group
 * @property {string} reason
 * @property {string | null} field null: of no field
 * @property {string | null} message of the problem; null: the matters have several messages, or none
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
    const { firstSeen } = row;
    bySubject.set(
      name,
      known ? { ...known, cause: causeOn(known, row), failures, firstSeen } : row,
    );
  }
  return [...bySubject.values()];
}

/** A failed upsert on an older page caused the failures after it. @param {FailedRow} row @param {FailedRow} older */
function causeOn({ reason, cause }, older) {
  if (reason !== 'MATTER_NOT_FOUND') return cause;
  return older.cause ?? (older.operation === 'upsert' ? older : cause);
}

/** The failure that has to be resolved: without the matter, its later pushes fail too. @param {FailedRow} row */
export const causeOf = (row) => row.cause ?? row;

/** The problem of a field in a failure. @param {Pick<FailedRow, 'problems'>} failure @param {string} field */
export const messageOf = ({ problems = [] }, field) =>
  problems.find((problem) => problem.field.replace(/\[\d+\]/g, '[]') === field)?.message ?? null;

/** By the cause of each matter; a matter with several invalid fields counts in each group. @param {readonly FailedRow[]} rows @returns {Group[]} */
export function groupsOf(rows) {
  const groups = new Map(/** @type {[string, Group][]} */ ([]));
  for (const row of rows) {
    const { firstSeen, lastSeen } = row;
    const cause = causeOf(row);
    const { reason, fields } = cause;
    for (const field of fields.length > 0 ? fields : [null]) {
      const message = field === null ? null : messageOf(cause, field);
      const name = JSON.stringify([reason, field]);
      const group = groups.get(name);
      const none = { matters: 0, stillFailed: 0, pushes: 0 };
      const before = group ?? { ...none, message, firstSeen, lastSeen };
      groups.set(name, {
        reason,
        field,
        message: before.message === message ? message : null,
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
export function isOf(row, reason, field) {
  const cause = causeOf(row);
  if (field === '') return row.reason === reason || cause.reason === reason;
  const { fields } = cause;
  return (
    cause.reason === reason && (field === NO_FIELD ? fields.length === 0 : fields.includes(field))
  );
}
