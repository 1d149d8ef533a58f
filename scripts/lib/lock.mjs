/**
 * A lock per folder and name. Its owner listens on a socket, which ends with the process: a stale file or a reused
 * pid cannot look like an owner.
 */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetupError } from './progress.mjs';

// Linux has socket names outside the file system. Other systems use a socket file.
function address(root, name) {
  const id = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const text = `matter-push-${name}-${id}`;
  return process.platform === 'linux' ? `\0${text}` : join(tmpdir(), `${text}.sock`);
}

/** Reads the status of the owner. @returns undefined if no process listens */
function readStatus(path) {
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
        setStatus: (next) => {
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
 * @returns {Promise<{setStatus(text: string): void, release(): void} | undefined>} undefined if another process owns
 *   the lock
 */
export async function takeLock(root, name) {
  const path = address(root, name);
  const lock = await listen(path);
  if (lock || path.startsWith('\0') || (await readStatus(path)) !== undefined) return lock;
  rmSync(path, { force: true }); // the process of this socket file has ended
  return listen(path);
}

/** @returns the status of the owner: its address, or that it is starting */
export async function statusOfOwner(root, name) {
  return (await readStatus(address(root, name))) || 'it gives no answer';
}

/** Takes the lock as soon as its owner releases it. */
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
