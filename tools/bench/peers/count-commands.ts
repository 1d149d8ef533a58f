/**
 * Counts the commands that the MongoDB driver of a process sends. Every measured process loads this file before its
 * own code. The count goes to a file in the folder COMMAND_COUNTS; its name contains the pid. The server does not
 * count, because its number would include the commands of other clients.
 */
import { openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

interface DriverConnection {
  command(this: unknown, ...args: unknown[]): unknown;
}

/** Milliseconds between two writes. */
const INTERVAL = 50;
/** Digits of a count, with leading zeros, so that each write replaces the previous one completely. */
const DIGITS = 12;

const folder = process.env.COMMAND_COUNTS;
if (folder !== undefined && process.env.ROLE !== undefined) countInto(folder);

function countInto(into: string): void {
  // Each call of this method of the driver is one message to the server, including retries.
  const ofMongoose = createRequire(require.resolve('mongoose'));
  const { Connection } = ofMongoose('mongodb/lib/cmap/connection.js');
  const driver: DriverConnection = Connection.prototype;
  const original = driver.command;
  // The system reuses pids, so the name contains the time too.
  const file = openSync(join(into, `${process.pid}-${Date.now()}`), 'w');
  let sent = 0;
  let written = 0;
  driver.command = function counting(...args) {
    sent += 1;
    return original.apply(this, args);
  };
  setInterval(() => {
    if (sent === written) return;
    written = sent;
    // Overwrites the file: a rename would wait for the disk and delay the measured process.
    writeSync(file, String(sent).padStart(DIGITS, '0'), 0);
  }, INTERVAL).unref();
}
