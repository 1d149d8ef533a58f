/**
 * Loaded by every process that is measured before its own code: counts the commands that its MongoDB
 * driver sends, and writes the count to a file named after the process in the folder COMMAND_COUNTS.
 * Counted here, and not by the server: what other clients send is not of the contender.
 */
import { openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

interface DriverConnection {
  command(this: unknown, ...args: unknown[]): unknown;
}

/** Milliseconds between two looks at whether there is a new count to be written. */
const INTERVAL = 50;
/** Of a count, leading zeros included: each write replaces the one before as a whole. */
const DIGITS = 12;

const folder = process.env.COMMAND_COUNTS;
if (folder !== undefined && process.env.ROLE !== undefined) countInto(folder);

function countInto(into: string): void {
  // The driver's own connection: what passes here is a message to the server, retries included.
  const ofMongoose = createRequire(require.resolve('mongoose'));
  const { Connection } = ofMongoose('mongodb/lib/cmap/connection.js');
  const driver: DriverConnection = Connection.prototype;
  const original = driver.command;
  // Numbers of processes come again.
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
    // In place: a file that replaces another waits for the disk, and the process that is measured with it.
    writeSync(file, String(sent).padStart(DIGITS, '0'), 0);
  }, INTERVAL).unref();
}
