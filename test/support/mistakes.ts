/** Signers that go wrong, each in a way of its own; they share nothing with what finds them out. */
import { createHash, createHmac } from 'node:crypto';
import type { Cause } from '../../src/signature-diagnosis/causes';

/** What a signer is given. */
export interface Given {
  readonly clientId: string;
  readonly secret: string;
  /** Epoch seconds. */
  readonly seconds: number;
  readonly retired: string;
  /** One that has ended; absent: the client never had any. */
  readonly queryKey?: string;
  readonly path: string;
}

/** What goes over the wire. */
export interface Wire {
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Buffer;
}

export type Mistake = (given: Given) => Wire;

const MATTER = {
  matterType: 'TODO',
  externalId: 'PR-2026/001',
  title: '审批：采购申请 <A&B>',
  pcUrl: 'https://oa.example.com/t?a=1&b=2',
  summary: null,
  parties: [{ username: 'li.lei', partyRole: 'ASSIGNEE' }],
};
export const COMPACT = JSON.stringify(MATTER);
export const PRETTY = JSON.stringify(MATTER, null, 2);

const hmac = (secret: string | Buffer, text: string | Buffer, name = 'sha256') =>
  createHmac(name, secret).update(text).digest();
const texts = ({ clientId, seconds }: Given, body: string | Buffer) =>
  Buffer.concat([Buffer.from(`${clientId}\n${seconds}\n`), Buffer.from(body as string)]);

/** Signs one writing of the body, and sends another. */
export const signs =
  (signed: string | Buffer, sent: string | Buffer = COMPACT): Mistake =>
  (given) => ({
    timestamp: String(given.seconds),
    signature: hmac(given.secret, texts(given, signed)).toString('hex'),
    body: Buffer.from(sent as string),
  });
/** Signs another text. */
export const signsText =
  (text: (given: Given) => string): Mistake =>
  (given) => ({
    timestamp: String(given.seconds),
    signature: hmac(given.secret, text(given)).toString('hex'),
    body: Buffer.from(COMPACT),
  });
const withKey =
  (key: (given: Given) => string | Buffer): Mistake =>
  (given) => ({
    timestamp: String(given.seconds),
    signature: hmac(key(given), texts(given, COMPACT)).toString('hex'),
    body: Buffer.from(COMPACT),
  });
const sends =
  (form: (digest: Buffer) => string): Mistake =>
  (given) => ({
    timestamp: String(given.seconds),
    signature: form(hmac(given.secret, texts(given, COMPACT))),
    body: Buffer.from(COMPACT),
  });
/** @param sent, signed of the seconds */
const stamps =
  (sent: (seconds: number) => string, signed = sent): Mistake =>
  ({ seconds, clientId, secret }) => ({
    timestamp: sent(seconds),
    signature: hmac(secret, `${clientId}\n${signed(seconds)}\n${COMPACT}`).toString('hex'),
    body: Buffer.from(COMPACT),
  });

const ascii = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
const python = ascii(COMPACT.replace(/(?<=["\]}l])([,:])(?=["[{n])/g, '$1 '));
const html = (text: string) =>
  text.replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
const sorted = JSON.stringify(
  Object.fromEntries(
    Object.entries({ ...MATTER, parties: [] }).sort(([a], [b]) => (a < b ? -1 : 1)),
  ),
).replace('"parties":[]', '"parties":[{"partyRole":"ASSIGNEE","username":"li.lei"}]');
const { summary: _summary, ...withoutNulls } = MATTER;

/** The mistakes that bodies make: what is signed, and what is sent. */
export const BODY_MISTAKES: readonly (readonly [Cause, Mistake])[] = [
  ['BODY_AS_JAVASCRIPT', signs(COMPACT, PRETTY)],
  ['BODY_AS_JAVASCRIPT', signs(COMPACT, python)],
  ['BODY_AS_PYTHON', signs(python)],
  ['BODY_AS_PHP', signs(ascii(COMPACT.replaceAll('/', '\\/')))],
  ['BODY_AS_PHP', signs(COMPACT.replaceAll('/', '\\/'))],
  ['BODY_AS_GO', signs(html(COMPACT))],
  ['BODY_AS_GO', signs(html(sorted))],
  ['BODY_AS_GO', signs(`${html(COMPACT)}\n`)],
  ['BODY_AS_JAVA', signs(html(COMPACT).replaceAll('=', '\\u003d'))],
  ['BODY_SORTED', signs(sorted)],
  ['BODY_PRETTY', signs(PRETTY)],
  ['BODY_PRETTY', signs(JSON.stringify(MATTER, null, 4))],
  ['BODY_PRETTY', signs(JSON.stringify(MATTER, null, 2).replaceAll('\n', '\r\n'))],
  ['BODY_WITHOUT_NULLS', signs(JSON.stringify(withoutNulls))],
  ['BODY_CRLF', signs(PRETTY.replaceAll('\n', '\r\n'), PRETTY)],
  ['BODY_LF', signs(`${PRETTY} `, `${PRETTY} `.replaceAll('\n', '\r\n'))],
  ['BODY_BOM', signs(`\ufeff${COMPACT}`)],
  ['BODY_WITHOUT_BOM', signs(COMPACT, `\ufeff${COMPACT}`)],
  ['BODY_LINE_FEED_ADDED', signs(`${COMPACT}\n`)],
  ['BODY_TRIMMED', signs(`${PRETTY} `.trim(), `${PRETTY} `)],
  ['BODY_EMPTY', signs('')],
  ['BODY_CHARSET', signs(Buffer.from(COMPACT, 'utf16le'))],
  ['BODY_CHARSET', signs(Buffer.from(COMPACT).toString('latin1'))],
  ['BODY_ENCODED', signs(Buffer.from(COMPACT).toString('base64'))],
  ['BODY_HASHED', signs(createHash('sha256').update(COMPACT).digest('hex'))],
  ['BODY_NOT_TEXT', signs(String(MATTER))],
];

export const TEXT_MISTAKES: readonly (readonly [Cause, Mistake])[] = [
  ['SEPARATOR_MISSING', signsText(({ clientId, seconds }) => clientId + seconds + COMPACT)],
  ['SEPARATOR_LITERAL', signsText((it) => `${it.clientId}\\n${it.seconds}\\n${COMPACT}`)],
  ['SEPARATOR_CRLF', signsText((it) => `${it.clientId}\r\n${it.seconds}\r\n${COMPACT}`)],
  ['SEPARATOR_OTHER', signsText((it) => `${it.clientId}&${it.seconds}&${COMPACT}`)],
  ['SEPARATOR_EXTRA', signsText((it) => `${it.clientId}\n${it.seconds}\n\n${COMPACT}`)],
  ['FIELDS_REORDERED', signsText((it) => `${it.seconds}\n${it.clientId}\n${COMPACT}`)],
  ['FIELDS_REORDERED', signsText((it) => `${COMPACT}|${it.clientId}|${it.seconds}`)],
  ['FIELD_MISSING', signsText((it) => `${it.seconds}.${COMPACT}`)],
  ['FIELD_MISSING', signsText(() => COMPACT)],
  [
    'FIELDS_NAMED',
    signsText((it) => `clientId=${it.clientId}&timestamp=${it.seconds}&body=${COMPACT}`),
  ],
  ['PATH_INCLUDED', signsText((it) => `${it.clientId}\n${it.seconds}\n${it.path}\n${COMPACT}`)],
  [
    'PATH_INCLUDED',
    signsText((it) => `POST\n${it.path}\n${it.clientId}\n${it.seconds}\n${COMPACT}`),
  ],
  ['CLIENT_ID_OTHER', signsText((it) => `${it.clientId.toUpperCase()}\n${it.seconds}\n${COMPACT}`)],
  ['SECRET_IN_TEXT', signsText((it) => `${it.clientId}\n${it.seconds}\n${COMPACT}\n${it.secret}`)],
];

export const TIME_MISTAKES: readonly (readonly [Cause, Mistake])[] = [
  ['TIMESTAMP_MILLISECONDS', stamps((seconds) => `${seconds}123`)],
  ['TIMESTAMP_MILLISECONDS', stamps(String, (seconds) => `${seconds}987`)],
  ['TIMESTAMP_UNIT', stamps((seconds) => `${seconds}123456789`)],
  ['TIMESTAMP_NOT_SECONDS', stamps((seconds) => new Date(seconds * 1000).toISOString())],
  ['TIMESTAMP_NOT_SECONDS', stamps((seconds) => `${seconds}.5`)],
  ['TIMESTAMP_TAKEN_TWICE', stamps(String, (seconds) => String(seconds + 1))],
  ['TIME_ZONE', stamps((seconds) => String(seconds + 8 * 3_600))],
  ['CLOCK_OFF', stamps((seconds) => String(seconds - 1_000))],
];

export const KEY_MISTAKES: readonly (readonly [Cause, Mistake])[] = [
  ['SECRET_RETIRED', withKey(({ retired }) => retired)],
  ['QUERY_KEY_ENDED', withKey(({ queryKey = '' }) => queryKey)],
  ['SECRET_WHITE_SPACE', withKey(({ secret }) => `${secret}\n`)],
  ['SECRET_WHITE_SPACE', withKey(({ secret }) => ` ${secret}`)],
  ['SECRET_QUOTED', withKey(({ secret }) => `"${secret}"`)],
  ['SECRET_QUOTED', withKey(({ secret }) => `'${secret}'\n`)],
  ['SECRET_NAMED', withKey(({ secret }) => `CLIENT_SECRET=${secret}`)],
  ['SECRET_NAMED', withKey(({ secret }) => `export OA_TEST_SECRET="${secret}"\n`)],
  ['SECRET_CASE', withKey(({ secret }) => secret.toLowerCase())],
  ['SECRET_ENCODED', withKey(({ secret }) => Buffer.from(secret, 'base64url'))],
  ['SECRET_HASHED', withKey(({ secret }) => createHash('md5').update(secret).digest('hex'))],
  ['SECRET_CUT', withKey(({ secret }) => secret.slice(0, -1))],
  ['SECRET_IS_AN_ID', withKey(({ clientId }) => clientId)],
  ['SECRET_UNSET', withKey(() => 'undefined')],
  ['SECRET_UNSET', withKey(() => '')],
];

export const DIGEST_MISTAKES: readonly (readonly [Cause, Mistake])[] = [
  ['SIGNATURE_BASE64', sends((digest) => digest.toString('base64'))],
  ['SIGNATURE_BASE64', sends((digest) => digest.toString('base64url'))],
  ['SIGNATURE_RAW', sends((digest) => digest.toString('latin1'))],
  ['SIGNATURE_PREFIXED', sends((digest) => `sha256=${digest.toString('hex')}`)],
  [
    'SIGNATURE_SEPARATED',
    sends((it) =>
      it
        .toString('hex')
        .toUpperCase()
        .replace(/..(?!$)/g, '$&-'),
    ),
  ],
  ['SIGNATURE_PREFIXED', sends((digest) => `(stdin)= ${digest.toString('hex')}`)],
  ['SIGNATURE_PREFIXED', sends((digest) => `SHA2-256(stdin)= ${digest.toString('hex')}`)],
  ['SIGNATURE_UNPADDED', sends((digest) => [...digest].map((it) => it.toString(16)).join(''))],
  ['SIGNATURE_CUT', sends((digest) => digest.toString('hex').slice(0, 50))],
  ['SIGNATURE_ENCODED_TWICE', sends((it) => Buffer.from(it.toString('hex')).toString('base64'))],
  [
    'HASH_OTHER',
    (given) => {
      const digest = hmac(given.secret, texts(given, COMPACT), 'sha1');
      return { ...signs(COMPACT)(given), signature: digest.toString('hex') };
    },
  ],
  [
    'NOT_HMAC',
    (given) => {
      const hash = createHash('sha256').update(texts(given, COMPACT)).update(given.secret);
      return { ...signs(COMPACT)(given), signature: hash.digest('hex') };
    },
  ],
  [
    'KEY_AND_TEXT_SWAPPED',
    (given) => {
      const digest = hmac(texts(given, COMPACT), given.secret);
      return { ...signs(COMPACT)(given), signature: digest.toString('hex') };
    },
  ],
  ['SIGNATURE_IS_SECRET', (given) => ({ ...signs(COMPACT)(given), signature: given.secret })],
  ['SIGNATURE_RIGHT', signs(COMPACT)],
];

export const MISTAKES = [
  ...BODY_MISTAKES,
  ...TEXT_MISTAKES,
  ...TIME_MISTAKES,
  ...KEY_MISTAKES,
  ...DIGEST_MISTAKES,
];
