/** What no hostile request may do: change the ledger, end a process, tell what is nobody's business. */
import { PushError, type Reason } from '../../src/protocol/errors';
import { matterModel } from '../../src/storage/ledger/matters';
import {
  type Exchange,
  epochSeconds,
  type HeaderList,
  post,
  type Signing,
  signedHeaders,
} from './hostile-post';
import type { Answer } from './pusher';
import type { SharedService as Service } from './service';

const OPEN = '/api/open/';

export interface Hostile {
  /** Below the open path; `matters/status` where absent. */
  readonly path?: string;
  /** Sent as it is where it is text or bytes; otherwise as JSON. */
  readonly body: unknown;
  readonly as?: Partial<Signing>;
  /** What becomes of the three signed headers; they are sent as they are where it is absent. */
  readonly headers?: (signed: [string, string][]) => HeaderList;
  readonly chunked?: boolean;
}

/** An answer, with the text that it was read from. */
export type Heard = Answer & Pick<Exchange, 'text'>;

function bytesOf(body: unknown): Buffer {
  const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  return Buffer.from(raw);
}

let sent = 0;

/** Seconds of the window that are used, and how many digits a second is written with. */
const SECONDS = 560;
const DIGITS = [10, 11, 12];

/**
 * Seconds within the window, another text each time: the same bytes under the same text, sent to two
 * endpoints, would be rejected as one signature that was used twice. A file may send more requests than the
 * window has seconds, and leading zeros make another text of the same second.
 */
function nextSecond(): string {
  sent = (sent + 1) % (SECONDS * DIGITS.length);
  const second = epochSeconds() - SECONDS / 2 + (sent % SECONDS);
  return String(second).padStart(DIGITS[Math.floor(sent / SECONDS)] ?? 0, '0');
}

/** Signs and sends. @throws where the answer is not the envelope, or tells more than it */
export async function send(
  { urlOf, clientId, secret, env }: Service,
  { path = 'matters/status', body, as, headers = (signed) => signed, chunked = false }: Hostile,
): Promise<Heard> {
  const bytes = bytesOf(body);
  const signed = signedHeaders({ clientId, secret, timestamp: nextSecond(), ...as }, bytes);
  const heard = await post(urlOf() + OPEN + path, headers(signed), bytes, { chunked });
  expectDiscreet(heard, [secret, ...masterKeys(env), ...(as?.secret ? [as.secret] : [])]);
  return { ...envelopeOf(heard), status: heard.status, headers: heard.headers, text: heard.text };
}

/** The same, and afterwards the ledger is what it was and every process is still there. */
export async function harmless(service: Service, about: Hostile): Promise<Heard> {
  const before = await ledgerOf(service);
  const heard = await send(service, about);
  expect(await ledgerOf(service)).toEqual(before);
  await expectAlive(service);
  return heard;
}

/** The same for what must be rejected with a reason, not to be tried again as it is. */
export async function rejected(service: Service, about: Hostile, reason: Reason): Promise<Heard> {
  const heard = await harmless(service, about);
  const { code } = new PushError(reason);
  expect(heard).toMatchObject({ status: code, code, reason, data: null, retryable: false });
  return heard;
}

/** Every matter, as it is stored. */
export function ledgerOf({ db }: Service): Promise<unknown[]> {
  return matterModel(db).find().sort({ _id: 1 }).lean();
}

/** The processes that the test started run on (nobody starts them again), and the web process answers. */
export async function expectAlive({ webs, workers, urlOf }: Service): Promise<void> {
  for (const { pid } of [...webs, ...workers]) expect(process.kill(pid, 0)).toBe(true);
  expect((await fetch(`${urlOf()}/healthz`)).status).toBe(200);
}

/** The keys themselves, without their ids. */
export const masterKeys = ({ SECRET_KEYS = '' }: Service['env']) =>
  SECRET_KEYS.split(',').map((key) => key.slice(key.indexOf(':') + 1));

const ALWAYS = ['code', 'data', 'message', 'requestId', 'timestamp'];
const OF_ERRORS = ['help', 'reason', 'retryable'];

function envelopeOf({ status, headers, text }: Exchange) {
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  const envelope = JSON.parse(text);
  const { code, errors, warnings } = envelope;
  const expected = [
    ...ALWAYS,
    ...(code === 0 ? [] : OF_ERRORS),
    ...(errors ? ['errors'] : []),
    ...(warnings ? ['warnings'] : []),
  ];
  expect(Object.keys(envelope).sort()).toEqual(expected.sort());
  expect(envelope.requestId).toMatch(/^[0-9a-f]{24}$/);
  expect(status).toBe(code === 0 ? 200 : code);
  return envelope;
}

/** Stack frames, source files, and the names of errors within. */
const INTERNALS = [
  /\bat .*:\d+/,
  /\.(?:[cm]?[jt]s|lua)\b/,
  /node_modules|node:/,
  /\b[A-Z]\w*(?:Error|Exception)\b/,
];

function expectDiscreet({ headers, text }: Exchange, secrets: readonly string[]): void {
  const told = JSON.stringify(headers) + text;
  for (const pattern of INTERNALS) expect(told).not.toMatch(pattern);
  // Shorter ones would be found in any text.
  for (const secret of secrets.filter(({ length }) => length >= 16)) {
    expect(told).not.toContain(secret);
  }
}
