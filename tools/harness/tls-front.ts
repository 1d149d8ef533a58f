/**
 * A port in front of a server that speaks no TLS itself: who opens with a TLS handshake gets TLS, who
 * does not (the servers among themselves) gets the server as it is.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import type { CertificateFiles } from './certificate';

export interface TlsFront {
  /** Connections that came with TLS, ever. */
  readonly encrypted: number;
  close(): void;
}

/** First byte of a TLS handshake. */
const HANDSHAKE = 0x16;

/** @throws Error where the port is taken */
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
    // Either end may break: the other one is closed then.
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
    // A server that is away takes no connection: its front must not seem to take one.
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
