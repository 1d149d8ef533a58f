/**
 * Signs a request as the service wants it (specification 5.1). Over plain http a browser has no
 * crypto.subtle; one way that works everywhere is better than two, so it is @noble/hashes always.
 */
import { hmac } from './lib/hmac.js';
import { sha256 } from './lib/sha2.js';
import { bytesToHex, utf8ToBytes } from './lib/utils.js';

/**
 * @param {{ clientId: string, key: string, timestamp: string, body: string }} request
 * @returns {string} hex
 */
export const signatureOf = ({ clientId, key, timestamp, body }) =>
  bytesToHex(hmac(sha256, utf8ToBytes(key), utf8ToBytes(`${clientId}\n${timestamp}\n${body}`)));
