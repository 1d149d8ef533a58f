/** A way to a server that can be closed for a while: connections are cut, new ones refused. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpDoor {
  readonly port: number;
  close(): void;
  open(): Promise<void>;
}

/** @returns it open, on a port of its own that it keeps */
export async function openDoor(targetPort: number, targetHost: string): Promise<TcpDoor> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // Cut connections are what it is for.
    socket.on('error', () => undefined);
  };
  let server: Server;
  const listen = async (port: number) => {
    server = createServer((inner) => {
      const outer = connect(targetPort, targetHost);
      keep(inner);
      keep(outer);
      inner.pipe(outer).pipe(inner);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  return {
    port,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    open: async () => void (await listen(port)),
  };
}
