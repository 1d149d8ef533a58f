/** Entry point for the servers that `npm start`, `npm test` and tests start, stop and kill. */
export { givenMongo, startMongo } from './mongo-server';
export { givenRedis, startRedis } from './redis-server';
export { type ReplicaSet, startReplicaSet } from './replica-set';
export type { RunningServer, ServerOptions } from './server';
