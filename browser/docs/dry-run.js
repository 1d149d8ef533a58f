/** The dry run of a push: the same body, checked and not written. Pure. */

/** @typedef {import('./shapes').Api} Api */
/** @typedef {{ path: string, type: string, body: string }} Sent */

const PUSH = '/api/open/matters/';
const BATCH = `${PUSH}batch`;
const VERIFY = '/api/open/verify';
const VERIFY_BATCH = `${VERIFY}/batch`;

/**
 * @param {Api} api
 * @param {string} path of an operation
 * @returns {((body: string) => Sent) | undefined} undefined where the operation has no dry run
 */
export function dryRunOf(api, path) {
  if (path === BATCH && api.paths[VERIFY_BATCH]) {
    return (body) => ({ path: VERIFY_BATCH, type: 'application/x-ndjson', body });
  }
  const name = path.startsWith(PUSH) ? path.slice(PUSH.length) : '';
  const forms = api.components.schemas.VerifyBody?.anyOf ?? [];
  if (!forms.some(({ properties }) => properties?.operation?.const === name)) return;
  const begin = `{"operation":${JSON.stringify(name)},"push":`;
  // The text itself, not a parsed copy: the dry run checks exactly the bytes of the push.
  return (body) => ({ path: VERIFY, type: 'application/json', body: `${begin}${body}}` });
}
