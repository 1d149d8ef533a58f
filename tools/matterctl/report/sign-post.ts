/** Signs posts to robots with a signing secret (加签), as the products' documentation of custom robots states. */
import { createHmac } from 'node:crypto';
import type { ReportFormat } from './formats';

export interface RobotPost {
  readonly url: string;
  readonly text: string;
}

/** @param now epoch milliseconds: robots accept a signature for one hour */
type SignPost = (post: RobotPost, secret: string, now: number) => RobotPost;

/** DingTalk reads timestamp (milliseconds) and signature in the address; Feishu reads them (seconds) in the body. */
const SIGNERS: Partial<Readonly<Record<ReportFormat, SignPost>>> = {
  dingtalk: ({ url, text }, secret, now) => {
    const signed = new URL(url);
    signed.searchParams.set('timestamp', String(now));
    signed.searchParams.set('sign', hmac(secret, `${now}\n${secret}`));
    return { url: signed.href, text };
  },
  // The secret is in the key of the HMAC, whose message is empty.
  feishu: ({ url, text }, secret, now) => {
    const timestamp = String(Math.floor(now / 1_000));
    const sign = hmac(`${timestamp}\n${secret}`, '');
    return { url, text: JSON.stringify({ timestamp, sign, ...JSON.parse(text) }) };
  },
};

const hmac = (key: string, message: string) =>
  createHmac('sha256', key).update(message).digest('base64');

/** The signer of a format; undefined if its receiver checks no signature. */
export const signerFor = (format: ReportFormat): SignPost | undefined => SIGNERS[format];
