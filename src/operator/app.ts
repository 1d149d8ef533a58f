/** Serves the operator page and its data, and pauses or resumes clients. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { answerDocument, type PlainDocument, readPage } from '../http/documents';
import { API_HEADERS } from '../protocol/headers';
import { answerChange, type ChangeAnswer, createWrongTokenCounter } from './changes';
import type { OperatorParts, QueueHistory } from './queue-history';
import { createScreen } from './screen';

/** For each path: true pauses a client, false resumes a client. */
const CHANGES: Readonly<Record<string, boolean>> = {
  '/operator/pause': true,
  '/operator/resume': false,
};
const READING = ['GET', 'HEAD'];
const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  ...API_HEADERS,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** @throws Error if a file of the page cannot be read */
export function createOperatorApp(parts: OperatorParts, queue: QueueHistory) {
  const screen = createScreen(parts, queue);
  const files = new Map([...readPage(PAGE, '/'), ...readPage(MANUAL, '/manual')]);
  const wrongTokens = createWrongTokenCounter();
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const [urlPath = ''] = (req.url ?? '').split('?');
    const paused = CHANGES[urlPath];
    if (paused !== undefined && req.method === 'POST') {
      const changed = await answerChange(req, paused, { ...parts, wrongTokens });
      screen.clear();
      return sendJson(res, changed);
    }
    if (!READING.includes(req.method ?? '')) return rejectMethod(res, paused !== undefined);
    if (urlPath === '/status') return sendJson(res, { status: 200, body: await screen.read() });
    const file = files.get(urlPath);
    if (file) return sendFile(req, res, file);
    const message = paused === undefined ? 'Not found' : 'Send this request with POST';
    sendJson(res, { status: paused === undefined ? 404 : 405, body: { message } });
  };
  return { answer, close: () => screen.close() };
}

function rejectMethod(res: ServerResponse, isChange: boolean): void {
  const allowed = isChange ? ['POST'] : READING;
  res.setHeader('Allow', allowed.join(', '));
  res.setHeader('Connection', 'close');
  sendJson(res, { status: 405, body: { message: `Only ${allowed.join(' and ')}` } });
}

function sendJson(res: ServerResponse, { status, body }: ChangeAnswer): void {
  // The server must not read the rest of a rejected body.
  if (status >= 400) res.setHeader('Connection', 'close');
  res.writeHead(status, HEADERS).end(`${JSON.stringify(body)}\n`);
}

function sendFile(req: IncomingMessage, res: ServerResponse, file: PlainDocument): void {
  const { status, headers, body } = answerDocument(file, req.headers);
  res.writeHead(status, { ...headers, 'Cross-Origin-Resource-Policy': 'same-origin' }).end(body);
}

/** `__dirname` is the folder of the compiled module. */
const PAGE = path.join(__dirname, '../../browser/operator');
const MANUAL = path.join(__dirname, '../../browser/manual');
