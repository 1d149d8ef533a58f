/**
 * A port in front of a server without TLS. A client that starts with a TLS handshake gets TLS. Other clients, such as
 * the servers of the group, get a plain connection.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import type { CertificateFiles } from './certificate';

export interface TlsFront {
  /** Number of TLS connections so far. */
  readonly encrypted: number;
  close(): void;
}

/** First byte of a TLS handshake. */
const HANDSHAKE = 0x16;

/** @throws Error if the port is in use */
export async function startTlsFront(
  port: number,
  target: number,
  { certFile, keyFile }: CertificateFiles,
): Promise<TlsFront> {
  const sockets = new Set<Socket>();
  let encrypted = 0;
  const forward = (client: Socket) => {
    const server = connect(target, '127.0.0.1');
    sockets.add(server);
    // If one side breaks, close the other one.
    const close = () => {
      sockets.delete(server);
      client.destroy();
      server.destroy();
    };
    pipeline(client, server, close);
    pipeline(server, client, close);
  };
  const tls = createTlsServer(
    { cert: readFileSync(certFile), key: readFileSync(keyFile) },
    (client) => {
      encrypted += 1;
      forward(client);
    },
  );
  tls.on('tlsClientError', () => undefined);
  const welcome = (client: Socket) =>
    client.once('data', (first: Buffer) => {
      client.pause();
      client.unshift(first);
      if (first[0] === HANDSHAKE) tls.emit('connection', client);
      else forward(client);
    });
  const front = createServer((client) => {
    sockets.add(client);
    client.on('close', () => sockets.delete(client));
    client.on('error', () => undefined);
    // If the server is down, the front must reject the connection too.
    const knock = connect(target, '127.0.0.1');
    knock.on('error', () => client.resetAndDestroy());
    knock.on('connect', () => {
      knock.destroy();
      welcome(client);
    });
  });
  front.listen(port, '127.0.0.1');
  await once(front, 'listening');
  return {
    get encrypted() {
      return encrypted;
    },
    close: () => {
      front.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
