/** A third party that asks: signs, sends, waits for the whole answer. */
import { Agent, request } from 'node:http';
import { sign } from '../../src/protocol/signature';

export interface Caller {
  readonly clientId: string;
  readonly secret: string;
}

const agent = new Agent({ keepAlive: true });
const TIMEOUT = 60_000;

/**
 * @param body sent as it is where it is text, else as JSON
 * @returns milliseconds until the last byte, and how many rows came
 * @throws Error where the answer is not code 0
 */
export async function ask(
  url: string,
  { clientId, secret }: Caller,
  body: unknown,
): Promise<{ ms: number; rows: number }> {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    'Content-Length': bytes.length,
    'X-Client-Id': clientId,
    'X-Timestamp': timestamp,
    'X-Signature': sign(secret, clientId, timestamp, bytes),
  };
  const started = performance.now();
  const text = await send(url, headers, bytes);
  const ms = performance.now() - started;
  // A stream ends with its envelope.
  const lines = text.trim().split('\n');
  const envelope = JSON.parse(lines.at(-1) ?? '');
  if (envelope.code !== 0) throw new Error(`${url} answered ${text.slice(0, 500)}`);
  return { ms, rows: lines.length > 1 ? lines.length - 1 : rowsOf(envelope.data) };
}

function send(url: string, headers: Record<string, string | number>, body: Buffer) {
  return new Promise<string>((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers, timeout: TIMEOUT }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TIMEOUT} ms`)));
    sent.end(body);
  });
}

function rowsOf(data: Record<string, unknown>): number {
  const list = Object.values(data).find(Array.isArray);
  return list?.length ?? 0;
}
