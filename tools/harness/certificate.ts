/** A self-signed certificate for tests on loopback. Clients can trust the certificate as its own CA. */
import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Writes a certificate for 127.0.0.1 and localhost into a folder. It is valid for a day. */
export function writeCertificate(folder: string): CertificateFiles {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const toSign = sequence(
    // Version 3.
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    NAME,
    sequence(time(-3_600_000), time(86_400_000)),
    NAME,
    publicKey,
    der(0xa3, sequence(BASIC_CONSTRAINTS, SUBJECT_ALT_NAMES)),
  );
  const signature = sign('sha256', toSign, createPrivateKey(privateKey));
  const certificate = sequence(toSign, ECDSA_SHA256, bits(signature));
  mkdirSync(folder, { recursive: true });
  const certFile = join(folder, 'certificate.pem');
  const keyFile = join(folder, 'key.pem');
  const lines = certificate.toString('base64').replace(/(.{64})/g, '$1\n');
  writeFileSync(certFile, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`);
  writeFileSync(keyFile, privateKey, { mode: 0o600 });
  return { certFile, keyFile };
}

/** One element of DER: tag, length, content. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...contents: readonly Buffer[]) => der(0x30, ...contents);
const bits = (content: Buffer) => der(0x03, Buffer.from([0]), content);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const time = (fromNow: number) =>
  der(
    0x18,
    Buffer.from(`${new Date(Date.now() + fromNow).toISOString().replace(/[-:T]|\..*/g, '')}Z`),
  );

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));
const NAME = sequence(
  der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('matter-push test')))),
);
/** The extension basicConstraints: critical, CA is true. */
const BASIC_CONSTRAINTS = sequence(
  oid('551d13'),
  der(0x01, Buffer.from([255])),
  der(0x04, sequence(der(0x01, Buffer.from([255])))),
);
/** The extension subjectAltName: a DNS name and an IP address. */
const SUBJECT_ALT_NAMES = sequence(
  oid('551d11'),
  der(0x04, sequence(der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])))),
);
