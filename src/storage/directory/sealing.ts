/**
 * Clients' secrets at rest: AES-256-GCM under a key from the environment, the client id as
 * associated data, so that a sealed secret cannot be moved to another client.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export interface KeyRing {
  /** Id of the first key of the ring. */
  readonly sealingKey: string;
  /** Seals with the first key of the ring; the result names the key: `keyId.iv.tag.data`, base64url. */
  seal(plain: string, clientId: string): string;
  /** @throws Error where the key is not in the ring or the seal does not hold */
  open(sealed: string, clientId: string): string;
}

/** @param entries `id:base64 of 32 bytes`, the sealing key first (SECRET_KEYS, already validated) */
export function createKeyRing(entries: readonly string[]): KeyRing {
  const keys = new Map(entries.map(parseEntry));
  const sealing = entries[0]?.split(':')[0] ?? '';
  const keyOf = (id: string) => {
    const key = keys.get(id);
    if (!key) throw new Error(`SECRET_KEYS has no key "${id}", which sealed a client's secret`);
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

/** Id of the key that a secret was sealed with. */
export function keyIdOf(sealed: string): string {
  return sealed.split('.')[0] ?? '';
}

function parseEntry(entry: string): [string, Buffer] {
  const colon = entry.indexOf(':');
  return [entry.slice(0, colon), Buffer.from(entry.slice(colon + 1), 'base64')];
}
