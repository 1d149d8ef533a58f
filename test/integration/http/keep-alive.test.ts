/** An idle connection is closed after KEEP_ALIVE_TIMEOUT, whatever its length. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { type Service, startService } from '../../support/service';

let service: Service;
beforeAll(async () => {
  service = await startService({ workers: 0 });
});
afterAll(() => service.stop());

// Near the 10 s in which a connection that takes no answer is ended: the one must not be taken for the other.
test.each(['1s', '9s', '10s'])('after %s', async (KEEP_ALIVE_TIMEOUT) => {
  const web = await service.startWeb({ KEEP_ALIVE_TIMEOUT });
  const { port } = new URL(service.urlOf(service.webs.indexOf(web)));
  const socket = connect(Number(port), '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += String(chunk);
  });
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});
