/** The rows of a batch answer or of its dry run. Pure. */

/** @typedef {{ line: number, externalId: string, isGood: boolean, result: string, texts: string[] }} Line */
/** @typedef {{ field?: string, message?: string }} Said */

/** What is read of a result. @typedef {{ line?: number, code?: number, message?: string, reason?: string, externalId?: string | null, outcome?: string, replayed?: boolean, errors?: Said[], warnings?: Said[] }} Result */

/**
 * @param {unknown} data of an answer
 * @returns {Line[] | undefined} undefined where it is that of no batch; `result` is empty for a line that
 *   would be accepted
 */
export function linesOf(data) {
  if (typeof data !== 'object' || data === null || !('results' in data)) return;
  if (!Array.isArray(data.results)) return;
  return data.results.map(lineOf);
}

/**
 * Lines of a dry run have no entry in the push log, and so no requestId.
 *
 * @param {unknown} data of an answer
 */
export function isVerification(data) {
  if (typeof data !== 'object' || data === null) return false;
  const results = 'results' in data && Array.isArray(data.results) ? data.results : [];
  return 'valid' in data || (results.length > 0 && !results.some((it) => 'requestId' in it));
}

/** @param {Result} result @returns {Line} */
function lineOf({ line = 0, code, message = '', reason = '', externalId, outcome = '', ...more }) {
  const isGood = code === 0;
  const said = [...(more.errors ?? []), ...(more.warnings ?? [])].map(
    ({ field = '', message: text = '' }) => `${field}: ${text}`,
  );
  return {
    line,
    externalId: externalId ?? '',
    isGood,
    result: isGood ? outcome : `${code} ${reason}`,
    texts: [
      ...(isGood ? [] : [message]),
      ...(more.replayed ? ['Idempotency-Replayed'] : []),
      ...said,
    ],
  };
}
