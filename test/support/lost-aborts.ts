/** A network that loses the abort of a transaction: what it wrote stays locked until somebody ends it. */
import mongoose from 'mongoose';

/** From now on no abort of this process gets through. @returns what ends that */
export function loseAborts(): () => void {
  const { Connection } = jest.requireActual('mongodb/lib/cmap/connection');
  const command = Connection.prototype.command;
  const loses = jest.spyOn(Connection.prototype, 'command');
  loses.mockImplementation(function lossy(this: unknown, ...args: unknown[]) {
    const isAbort = (args[1] as object) && 'abortTransaction' in (args[1] as object);
    if (!isAbort) return command.apply(this, args);
    return Promise.reject(new mongoose.mongo.MongoNetworkError('the abort is lost'));
  });
  return () => loses.mockRestore();
}
