/** The dry run of a push: the same body, sent to be verified in place of being written. Pure. */
import { endpointsOf } from './api.js';

/** @typedef {import('./shapes').Api} Api */
/** @typedef {{ path: string, type: string, body: string }} Sent */

/** The operation that verifies. */
const VERIFY = 'verifyPush';

/**
 * @param {Api} api
 * @param {string} path of an operation
 * @returns {((body: string) => Sent) | undefined} undefined where the operation has no dry run
 */
export function dryRunOf(api, path) {
  const verify = endpointsOf(api).find(({ operation }) => operation.operationId === VERIFY);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const forms = api.components.schemas.VerifyBody?.anyOf ?? [];
  if (!verify || !forms.some(({ properties }) => properties?.operation?.const === name)) return;
  const begin = `{"operation":${JSON.stringify(name)},"push":`;
  // The text itself, not what a parser makes of it: what is verified is what would be sent.
  return (body) => ({ path: verify.path, type: 'application/json', body: `${begin}${body}}` });
}
