/**
 * Encrypts ("seals") the secrets of clients with AES-256-GCM and a key of SECRET_KEYS. This file must not import the
 * database driver: `matterctl` loads the driver only when necessary.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export interface KeyRing {
  /** Id of the key with which `seal` encrypts. */
  readonly sealingKey: string;
  /** @returns `keyId.iv.tag.data`; `iv`, `tag` and `data` are in base64url */
  seal(plain: string, clientId: string): string;
  /** @throws Error if the text cannot be decrypted */
  open(sealed: string, clientId: string): string;
}

/** @param entries SECRET_KEYS: 32 bytes each, in the form `id:base64`; `seal` uses the first key */
export function createKeyRing(entries: readonly string[]): KeyRing {
  const keys = new Map(entries.map(parseEntry));
  const sealing = entries[0]?.split(':')[0] ?? '';
  const keyOf = (id: string) => {
    const key = keys.get(id);
    if (!key)
      throw new Error(`SECRET_KEYS lacks the key "${id}", which a stored client secret needs`);
    return key;
  };
  return {
    sealingKey: sealing,
    seal: (plain, clientId) => {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keyOf(sealing), iv).setAAD(
        Buffer.from(clientId),
      );
      const data = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      const parts = [iv, cipher.getAuthTag(), data].map((part) => part.toString('base64url'));
      return [sealing, ...parts].join('.');
    },
    open: (sealed, clientId) => {
      const [id = '', iv = '', tag = '', data = ''] = sealed.split('.');
      const decipher = createDecipheriv('aes-256-gcm', keyOf(id), Buffer.from(iv, 'base64url'), {
        authTagLength: 16,
      });
      decipher.setAAD(Buffer.from(clientId)).setAuthTag(Buffer.from(tag, 'base64url'));
      return decipher.update(data, 'base64url', 'utf8') + decipher.final('utf8');
    },
  };
}

/** The caller must not store `secret`. */
export function mintSecret(clientId: string, keyRing: KeyRing, now: number) {
  const secret = randomBytes(32).toString('base64url');
  const id = randomBytes(6).toString('hex');
  const sealed = keyRing.seal(secret, clientId);
  return { secret, stored: { id, sealed, createdAt: new Date(now), expiresAt: null } };
}

export function keyIdOf(sealed: string): string {
  return sealed.split('.')[0] ?? '';
}

function parseEntry(entry: string): [string, Buffer] {
  const colon = entry.indexOf(':');
  return [entry.slice(0, colon), Buffer.from(entry.slice(colon + 1), 'base64')];
}
