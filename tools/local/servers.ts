/** Entry point for the servers that `npm start`, `npm test` and tests start, stop and kill. */
export { externalMongo, startMongo } from './mongo-server';
export { externalRedis, startRedis } from './redis-server';
export { type ReplicaSet, startReplicaSet } from './replica-set';
export type { RunningServer, ServerOptions } from './server';
