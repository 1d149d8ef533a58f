/** The HTTP surface of the operator's screen: its page and files, what it shows as JSON, and the two changes. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerDocument } from '../http/document-answer';
import type { PlainDocument } from '../http/request-state';
import { API_HEADERS } from '../protocol/headers';
import { type Answer, answerChange } from './changes';
import { readOperatorFiles } from './files';
import type { OperatorParts } from './parts';
import type { QueueHistory } from './queue-history';
import { createScreen } from './screen';
import { createTries } from './tries';

const CHANGES: Readonly<Record<string, boolean>> = {
  '/operator/pause': true,
  '/operator/resume': false,
};
const READING = ['GET', 'HEAD'];
/** For JSON; the files have theirs. */
const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  ...API_HEADERS,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** @throws Error where a file of the page cannot be read */
export function createOperatorApp(parts: OperatorParts, queue: QueueHistory) {
  const screen = createScreen(parts, queue);
  const files = readOperatorFiles();
  const tries = createTries();
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const [path = ''] = (req.url ?? '').split('?');
    const paused = CHANGES[path];
    if (paused !== undefined && req.method === 'POST') {
      const changed = await answerChange(req, paused, { ...parts, tries });
      screen.forget();
      return sendJson(res, changed);
    }
    if (!READING.includes(req.method ?? '')) return refuseMethod(res, paused !== undefined);
    if (path === '/status') return sendJson(res, { status: 200, body: await screen.read() });
    const file = files.get(path);
    if (file) return sendFile(req, res, file);
    const message = paused === undefined ? 'Not found' : 'To be sent by POST';
    sendJson(res, { status: paused === undefined ? 404 : 405, body: { message } });
  };
  return { answer, close: () => screen.close() };
}

function refuseMethod(res: ServerResponse, isChange: boolean): void {
  const allowed = isChange ? ['POST'] : READING;
  res.setHeader('Allow', allowed.join(', '));
  res.setHeader('Connection', 'close');
  sendJson(res, { status: 405, body: { message: `Only ${allowed.join(' and ')}` } });
}

function sendJson(res: ServerResponse, { status, body }: Answer): void {
  // A body that nobody has read is not waited for.
  if (status >= 400) res.setHeader('Connection', 'close');
  res.writeHead(status, HEADERS).end(`${JSON.stringify(body)}\n`);
}

function sendFile(req: IncomingMessage, res: ServerResponse, file: PlainDocument): void {
  const { status, headers, body } = answerDocument(file, req.headers);
  res.writeHead(status, { ...headers, 'Cross-Origin-Resource-Policy': 'same-origin' }).end(body);
}
