/**
 * Works around a defect of the MongoDB driver (7.8). A closing socket is first destroyed and emits `close` later. A
 * command that the driver sends between these two moments waits forever, because the command has no time limit. The
 * defect appears when a server closes its connections, for example when a primary dies.
 */
import { mongo } from 'mongoose';

/** The driver's internal class, with the members that this file uses. The types of the driver omit this class. */
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
 * command. If `web` and a worker run in one Node process, both call this function; the second call has no effect.
 */
export function failCommandsOnClosedSockets(): void {
  const { prototype } = Connection;
  const { throwIfAborted } = prototype;
  // The name `throwIfClosed` shows that an earlier call has already patched the driver.
  if (throwIfAborted.name === 'throwIfClosed') return;
  prototype.throwIfAborted = function throwIfClosed(this: DriverConnection) {
    if (!this.error && this.socket.destroyed) {
      this.onError(new mongo.MongoNetworkError(`connection ${this.id} was closed by the server`));
    }
    throwIfAborted.call(this);
  };
}
