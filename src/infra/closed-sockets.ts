/**
 * Works around a defect of the MongoDB driver (7.8): if a socket is destroyed but has not emitted `close` yet, a
 * command on this socket waits forever.
 */
import { mongo } from 'mongoose';

/** Internal class of the driver, which is missing in the driver's types. */
interface DriverConnection {
  readonly id: number | string;
  readonly error: Error | null;
  readonly socket: { readonly destroyed: boolean };
  onError(error: Error): void;
  /** Called by the driver before each command. @throws the error that closed the connection */
  throwIfAborted(): void;
}

const { Connection } = require('mongodb/lib/cmap/connection') as {
  readonly Connection: { readonly prototype: DriverConnection };
};

/**
 * Patches the driver: a command on a destroyed socket fails at once with a network error, and the driver retries the
 * command.
 */
export function failCommandsOnClosedSockets(): void {
  const { prototype } = Connection;
  const { throwIfAborted } = prototype;
  // If `web` and a worker run in one Node process, both call this function, but the driver must be patched only once.
  if (throwIfAborted.name === 'throwIfClosed') return;
  prototype.throwIfAborted = function throwIfClosed(this: DriverConnection) {
    if (!this.error && this.socket.destroyed) {
      this.onError(new mongo.MongoNetworkError(`connection ${this.id} was closed by the server`));
    }
    throwIfAborted.call(this);
  };
}
