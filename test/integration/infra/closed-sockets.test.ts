/** A server that closes its connections, as a dying primary does, leaves no command without an end. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectMongo } from '../../../src/infra/mongo';
import { testServers, withPatience } from '../../support/service';
import { until } from '../../support/wait';

/** Without the guard a command was left without an end in 19 of 20 rounds. */
const ROUNDS = 5;
/** Milliseconds of a round in which commands start: the connections are closed at its beginning. */
const ROUND = 200;

test('each command ends although the server closes its connections again and again', async () => {
  const proxy = await startProxy(Number(/:(\d+)/.exec(testServers().mongoUrl)?.[1]));
  const connection = await connectMongo(
    withPatience(`${proxy.url}/closed-sockets?directConnection=true`),
  );
  const collection = connection.collection('any');
  let begun = 0;
  let ended = 0;
  const send = () => {
    begun += 1;
    const end = () => {
      ended += 1;
    };
    collection.insertOne({}).then(end, end);
  };
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all(Array.from({ length: 20 }, () => collection.findOne().catch(() => null)));
      proxy.closeConnections();
      let isOver = false;
      // Some commands start in the moment in which a socket has ended and its `close` event is still to come.
      const keepSending = () => {
        send();
        if (!isOver) setImmediate(keepSending);
      };
      keepSending();
      await sleep(ROUND);
      isOver = true;
    }
    await until('every command to end', async () => ended === begun);
    expect(begun).toBeGreaterThan(ROUNDS);
  } finally {
    await until('the database to be dropped', () =>
      connection.dropDatabase().then(
        () => true,
        () => false,
      ),
    );
    await connection.close();
    await proxy.close();
  }
});

async function startProxy(port: number) {
  const sockets = new Set<Socket>();
  let clients: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
    clients.push(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** As the operating system of a process that dies: what was sent before arrives, then the end. */
    closeConnections: () => {
      for (const client of clients) client.end();
      clients = [];
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
