/**
 * Works around a defect of the MongoDB driver (7.8). On a destroyed socket that has not emitted `close` yet, a
 * command waits forever.
 */
import { mongo } from 'mongoose';

/** The members of the driver's internal class `Connection` that this file uses. */
interface DriverConnection {
  readonly id: number | string;
  readonly error: Error | null;
  readonly socket: { readonly destroyed: boolean };
  onError(error: Error): void;
  /** Called by the driver before each command. @throws `error` if the connection has one */
  throwIfAborted(): void;
}

const { Connection } = require('mongodb/lib/cmap/connection') as {
  readonly Connection: { readonly prototype: DriverConnection };
};

/** Patches the driver: a command on a destroyed socket fails at once with a retryable error. */
export function failCommandsOnClosedSockets(): void {
  const { prototype } = Connection;
  const { throwIfAborted } = prototype;
  // `web` and a worker can run in one Node process. Only the first call must patch the driver.
  if (throwIfAborted.name === 'throwIfClosed') return;
  prototype.throwIfAborted = function throwIfClosed(this: DriverConnection) {
    if (!this.error && this.socket.destroyed) {
      this.onError(new mongo.MongoNetworkError(`connection ${this.id} was closed by the server`));
    }
    throwIfAborted.call(this);
  };
}
