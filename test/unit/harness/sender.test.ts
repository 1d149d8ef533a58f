/** The sender of a load tells what came back, whatever it is, and never waits for ever. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLoadSender } from '../../../tools/harness/load-sender';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const client = { clientId: 'crm', systemCode: 'CRM', secret: 'not one of ours' };

/** What the sender says of the answer of such a server. */
async function sentTo(answer: RequestListener, timeout?: number) {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sender = createLoadSender(`http://127.0.0.1:${port}`, client, timeout);
  const seen = await sender.send('{}').finally(sender.close);
  return seen;
}

test('an answer of the service is its code and reason, with what headers it has', async () => {
  const body = JSON.stringify({ code: 503, reason: 'BACKLOG_FULL' });
  const seen = await sentTo((_, res) => res.setHeader('Retry-After', '1').end(body));
  expect(seen).toMatchObject({ kind: '503 BACKLOG_FULL', hasRetryAfter: true, hasRate: false });
});

test('an answer that is none of the service is told, and breaks nothing', async () => {
  expect(await sentTo((_, res) => res.end('<html>'))).toMatchObject({ kind: 'not JSON' });
});

test('a connection that breaks is lost, before and within an answer', async () => {
  expect((await sentTo((req) => req.socket.destroy())).kind).toMatch(/^lost /);
  server.close();
  const half: RequestListener = (req, res) => {
    res.writeHead(200, { 'Content-Length': 100 });
    res.write('{', () => req.socket.destroy());
  };
  expect((await sentTo(half)).kind).toMatch(/^lost /);
});

test('where no answer comes the push is hung', async () => {
  const { kind, sentAt, endedAt } = await sentTo(() => undefined, 200);
  expect(kind).toBe('hung');
  expect(endedAt - sentAt).toBeGreaterThan(190);
});
