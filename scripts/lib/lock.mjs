/**
 * One holder per folder and name, by a listening socket: it ends with its process, so there are
 * no stale files and no reused pids to mistake for a holder.
 */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetupError } from './progress.mjs';

// Linux has socket names outside the file system; elsewhere a socket file stands in for it.
function address(root, name) {
  const id = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const text = `matter-push-${name}-${id}`;
  return process.platform === 'linux' ? `\0${text}` : join(tmpdir(), `${text}.sock`);
}

/** Asks the holder who it is; undefined when nobody listens. */
function ask(path) {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(path);
    socket.setTimeout(3_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk;
      if (answer.includes('\n')) socket.destroy();
    });
    socket.on('error', (error) => resolve(error.code === 'ECONNREFUSED' ? undefined : ''));
    socket.on('close', () => resolve(answer.trim()));
  });
}

function listen(path) {
  return new Promise((resolve, reject) => {
    let text = `starting, pid ${process.pid}`;
    const sockets = new Set();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
      socket.write(`${text}\n`);
    });
    server.on('error', (error) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(path, () => {
      server.unref();
      resolve({
        tell: (next) => {
          text = `${next}, pid ${process.pid}`;
        },
        release: () => {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}

/**
 * Takes the lock if it is free.
 * @returns {Promise<{tell(text: string): void, release(): void} | undefined>} undefined when held
 */
export async function takeLock(root, name) {
  const path = address(root, name);
  const lock = await listen(path);
  if (lock || path.startsWith('\0') || (await ask(path)) !== undefined) return lock;
  rmSync(path, { force: true }); // a socket file whose process is gone
  return listen(path);
}

/** What the holder says of itself: where it listens, or that it is starting. */
export async function whoHolds(root, name) {
  return (await ask(address(root, name))) || 'it gives no answer';
}

/** Takes the lock as soon as its holder lets go. */
export async function waitForLock(root, name, onWait, limitMs = 900_000) {
  const until = Date.now() + limitMs;
  for (let tries = 0; ; tries += 1) {
    const lock = await takeLock(root, name);
    if (lock) return lock;
    if (tries === 0) onWait();
    if (Date.now() > until) {
      throw new SetupError('Another set-up of this folder does not end. Stop it, then try again.');
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
