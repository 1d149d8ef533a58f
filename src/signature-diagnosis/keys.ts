/** Makes the HMAC keys that `search.ts` tries: the stored secrets, and keys that callers use by mistake. */
import { createHash } from 'node:crypto';
import type { StoredSecret } from '../storage/directory';
import type { Cause } from './causes';

export interface KeyVariant {
  /** The mistake; undefined for a valid secret or a valid query key. */
  readonly cause: Cause | undefined;
  /** Detail of the mistake, shown after the explanation of `cause`. */
  readonly how?: string;
  readonly key: string | Buffer;
  /** Value for the placeholder `{secret}` in `signing-texts.ts`. */
  readonly secret: string;
  /** Whether the search combines this key with other mistakes. */
  readonly isCommon: boolean;
  readonly isQueryKey?: boolean;
}

type Found = readonly [cause: Cause, how: string, key: string | Buffer];

const SPACES: readonly (readonly [how: string, before: string, after: string])[] = [
  ['a line feed after it', '', '\n'],
  ['CR LF after it', '', '\r\n'],
  ['a CR after it', '', '\r'],
  ['a blank after it', '', ' '],
  ['a blank before it', ' ', ''],
  ['a tab after it', '', '\t'],
  ['blanks around it', ' ', ' '],
  ['a line feed before it', '\n', ''],
  ['a byte order mark before it', '\ufeff', ''],
];
/** Names of settings. Some callers sign with a whole line of a settings file, such as `SECRET=…`. */
const NAMES = [
  ...['CLIENT_SECRET', 'client_secret', 'clientSecret', 'SECRET', 'secret', 'HMAC_SECRET'],
  ...['APP_SECRET', 'app_secret', 'appSecret', 'API_SECRET', 'SECRET_KEY', 'secretKey'],
  ...['MATTER_PUSH_SECRET', 'MATTER_SECRET', 'PUSH_SECRET', 'PORTAL_SECRET'],
];
const BASE64 = /^[\w+/-]+={0,2}$/;
const HEX = /^(?:[\da-f]{2})+$/i;
const UNSET_VALUES = [
  '',
  'undefined',
  'null',
  'None',
  'nil',
  'false',
  '$CLIENT_SECRET',
  'CLIENT_SECRET',
];

/** Makes all keys that the search tries, valid secrets first. @param receivedAt epoch milliseconds */
export function keyVariants(
  clientId: string,
  stored: readonly StoredSecret[],
  receivedAt: number,
): KeyVariant[] {
  const secrets = stored.filter(({ isQueryKey }) => !isQueryKey);
  const unchanged = secrets.map((own) => unchangedKey(own, 'SECRET_RETIRED', receivedAt));
  const queryKeys = stored
    .filter(({ isQueryKey }) => isQueryKey)
    .map((key) => ({
      ...unchangedKey(key, 'QUERY_KEY_ENDED', receivedAt),
      isQueryKey: true,
      isCommon: false,
    }));
  const [secret = ''] = stored.map((own) => own.secret);
  const of = (found: Iterable<Found>, from: string, isCommon: boolean): KeyVariant[] =>
    Array.from(found, ([cause, how, key]) => ({ cause, how, key, secret: from, isCommon }));
  return [
    ...unchanged.sort((a, b) => Number(a.cause !== undefined) - Number(b.cause !== undefined)),
    ...queryKeys,
    ...secrets.flatMap((own) => of(spaced(own.secret), own.secret, true)),
    ...secrets.flatMap((own) => of(changed(own.secret), own.secret, false)),
    ...secrets.flatMap((own) => of(named(own.secret, clientId), own.secret, false)),
    ...of(ids(clientId, secrets), secret, false),
    ...UNSET_VALUES.map((key): KeyVariant => {
      const how = key === '' ? 'it was empty' : `"${key}"`;
      return { cause: 'SECRET_UNSET', how, key, secret, isCommon: false };
    }),
  ];
}

/** @param ended the cause to report if the secret has expired */
function unchangedKey(stored: StoredSecret, ended: Cause, receivedAt: number): KeyVariant {
  const isOver = stored.endsAt !== undefined && stored.endsAt <= receivedAt;
  const name = ended === 'QUERY_KEY_ENDED' ? 'key' : 'secret';
  const { id, secret } = stored;
  const mistake = isOver ? { cause: ended, how: `${name} ${id}` } : { cause: undefined };
  return { ...mistake, key: secret, secret, isCommon: true };
}

function* spaced(secret: string): Generator<Found> {
  for (const [how, before, after] of SPACES) {
    yield ['SECRET_WHITE_SPACE', how, before + secret + after];
  }
}

function* changed(secret: string): Generator<Found> {
  yield ['SECRET_QUOTED', 'double quotes', `"${secret}"`];
  yield ['SECRET_QUOTED', 'single quotes', `'${secret}'`];
  yield ['SECRET_QUOTED', 'double quotes, and a line feed', `"${secret}"\n`];
  yield ['SECRET_QUOTED', 'single quotes, and a line feed', `'${secret}'\n`];
  yield ['SECRET_QUOTED', 'typographic quotes', `\u201c${secret}\u201d`];
  yield ['SECRET_QUOTED', 'backticks', `\`${secret}\``];
  yield ['SECRET_CASE', 'lower case', secret.toLowerCase()];
  yield ['SECRET_CASE', 'upper case', secret.toUpperCase()];
  // `Buffer.from` ignores characters that are not base64.
  if (BASE64.test(secret)) {
    yield ['SECRET_ENCODED', 'decoded from base64', Buffer.from(secret, 'base64')];
  }
  if (HEX.test(secret)) yield ['SECRET_ENCODED', 'decoded from hex', Buffer.from(secret, 'hex')];
  const bytes = Buffer.from(secret);
  yield ['SECRET_ENCODED', 'in base64', bytes.toString('base64')];
  yield ['SECRET_ENCODED', 'in hex', bytes.toString('hex')];
  yield ['SECRET_ENCODED', 'percent-encoded', encodeURIComponent(secret)];
  for (const name of ['sha256', 'md5', 'sha1']) {
    const hash = createHash(name).update(secret).digest();
    yield ['SECRET_HASHED', `${name}, hex`, hash.toString('hex')];
    yield ['SECRET_HASHED', `${name}, raw bytes`, hash];
  }
  yield ['SECRET_CUT', 'the last character', secret.slice(0, -1)];
  yield ['SECRET_CUT', 'the first character', secret.slice(1)];
}

function* named(secret: string, clientId: string): Generator<Found> {
  const own = clientId.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
  for (const name of [...NAMES, `${own}_SECRET`, `${own}_CLIENT_SECRET`]) {
    for (const before of [`${name}=`, `export ${name}=`, `${name}: `, `${name} = `]) {
      for (const quote of ['', '"', "'"]) {
        const how = before + quote + (quote === '' ? '' : `…${quote}`);
        yield ['SECRET_NAMED', how, before + quote + secret + quote];
        yield ['SECRET_NAMED', `${how} and a line feed`, `${before + quote + secret + quote}\n`];
      }
    }
  }
}

function* ids(clientId: string, secrets: readonly StoredSecret[]): Generator<Found> {
  yield ['SECRET_IS_AN_ID', 'the client id', clientId];
  for (const { id } of secrets) yield ['SECRET_IS_AN_ID', `the id ${id} of a secret`, id];
}
