/**
 * Signs a request (contract 3.1). Over plain http a browser has no
 * crypto.subtle, so HMAC-SHA256 comes from @noble/hashes.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * @param {{ clientId: string, timestamp: string, body: string }} call
 * @returns {string} what the signature is over
 */
export const signedText = ({ clientId, timestamp, body }) => `${clientId}\n${timestamp}\n${body}`;

/** @param {string} secret @param {string} text @returns {string} hex */
export const signature = (secret, text) =>
  bytesToHex(hmac(sha256, utf8ToBytes(secret), utf8ToBytes(text)));
