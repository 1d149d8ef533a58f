/** Settings of Redis of which a starting process warns. */
import { unsafeSettings } from '../../../src/infra/redis/unsafe-settings';

const infoOf = (...lines: readonly string[]) => ['# Memory', ...lines, ''].join('\r\n');
const settings = (info: string, isSentinelGroup: boolean) =>
  unsafeSettings(info, isSentinelGroup).map(({ setting }) => setting);

test('a Redis that keeps all data is safe', () => {
  expect(settings(infoOf('maxmemory_policy:noeviction'), false)).toEqual([]);
});

test('a Redis that deletes data when it is full is not', () => {
  const info = infoOf('maxmemory:0', 'maxmemory_policy:volatile-lru');
  expect(settings(info, false)).toEqual(['maxmemory-policy volatile-lru']);
});

test('a Sentinel group needs a primary that accepts writes only with a replica', () => {
  const safe = infoOf('maxmemory_policy:noeviction', 'min_slaves_good_slaves:2');
  expect(settings(safe, true)).toEqual([]);
  const unsafe = infoOf('maxmemory_policy:noeviction', 'connected_slaves:2');
  expect(settings(unsafe, true)).toEqual(['min-replicas-to-write or min-replicas-max-lag is 0']);
  // One address may be that of a service which keeps its own servers.
  expect(settings(unsafe, false)).toEqual([]);
});

test('a server that does not tell its policy is not blamed', () => {
  expect(settings('# Server\r\nredis_version:7.2.0\r\n', false)).toEqual([]);
});
