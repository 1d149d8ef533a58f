/**
 * What a request whose signature was rejected had sent for one: enough to tell later whether some text
 * would have given it, and nothing that could be sent again. What is sent there may be anything, also
 * the secret itself, so it is not kept but as a digest.
 */
import { createHash } from 'node:crypto';

export interface SentSignature {
  /** X-Timestamp, where it looks like a time of any kind. */
  timestamp?: string;
  /** Characters of X-Signature. */
  length: number;
  /** SHA-256 of it, hex. */
  hash: string;
}

/** Digits and what dates are written with. */
const TIME_LIKE = /^(?=.*\d)[\dTZ.:+ -]{1,40}$/;
const HEX = /^[0-9a-fA-F]+$/;

export function sentSignature(timestamp: string, signature: string): SentSignature {
  return {
    ...(TIME_LIKE.test(timestamp) && { timestamp }),
    length: signature.length,
    hash: hashSignature(signature),
  };
}

/** Of a text that may be a signature; hex digits count as lower case. @returns hex */
export function hashSignature(text: string): string {
  const plain = HEX.test(text) ? text.toLowerCase() : text;
  return createHash('sha256').update(plain).digest('hex');
}
