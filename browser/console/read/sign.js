/**
 * Signs a request (contract 3.1). Over plain http a browser has no crypto.subtle, so @noble/hashes computes every
 * signature.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * @param {{ clientId: string, key: string, timestamp: string, body: string }} request
 * @returns {string} hex
 */
export const signatureOf = ({ clientId, key, timestamp, body }) =>
  bytesToHex(hmac(sha256, utf8ToBytes(key), utf8ToBytes(`${clientId}\n${timestamp}\n${body}`)));
