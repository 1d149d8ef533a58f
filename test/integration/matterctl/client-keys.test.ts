/** Keys: when a secret was used last, and a new master key without a pause. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mongoose';
import pino from 'pino';
import { createClientDirectory, createFindStoredSecrets } from '../../../src/storage/directory';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { type ClientSecret, clientModel } from '../../../src/storage/directory/client-model';
import { resealSecrets, rotateSecret } from '../../../src/storage/directory/rotate-keys';
import { createKeyRing, keyIdOf } from '../../../src/storage/directory/sealing';
import { createSecretUses, readSecretUses } from '../../../src/storage/directory/secret-uses';
import { localTime } from '../../../tools/matterctl/local-time';
import { matterctl } from '../../support/cli-tool';
import { dropDatabase, newDatabase } from '../../support/database';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const logger = pino({ level: 'silent' });
const key = (id: string, fill: number) => `${id}:${Buffer.alloc(32, fill).toString('base64')}`;
const [K1, K2] = [key('k1', 1), key('k2', 2)];
const OLD = createKeyRing([K1]);
const BOTH = createKeyRing([K2, K1]);
const NEW = createKeyRing([K2]);
const clock = Date.now;

describe('in a database of its own', () => {
  let db: Connection;
  beforeAll(async () => {
    db = await newDatabase();
  });
  beforeEach(() => db.dropDatabase());
  afterAll(() => dropDatabase(db));

  const add = async (clientId: string, ring = OLD) => {
    const admin = createClientAdmin(db, ring, clock);
    return String((await admin.create({ clientId, systemCode: 'S' })).secret);
  };
  const secretsOf = async (clientId: string): Promise<ClientSecret[]> =>
    (await clientModel(db).findById(clientId).lean())?.secrets ?? [];
  const keysOf = async (clientId: string) =>
    (await secretsOf(clientId)).map(({ sealed }) => keyIdOf(sealed));
  /** What a web process that has only the new key can verify with. */
  const usable = async (clientId: string) =>
    (await createClientDirectory(db, NEW, clock, logger).find(clientId))?.secrets.map(
      ({ secret }) => secret,
    );
  /** All that can be opened with it, whoever's they are. */
  const opened = async (ring: typeof NEW) => {
    const find = createFindStoredSecrets(db, ring);
    const held = await Promise.all(
      (await clientModel(db).find().lean()).map(({ _id }) => find(_id)),
    );
    return held.flat().map(({ secret }) => secret);
  };
  const reseal = (ring = BOTH) => resealSecrets(db, { keyRing: ring, clock });

  describe('uses of a secret', () => {
    test('are written at once, then once a minute, and when the process drains', async () => {
      const start = Date.UTC(2026, 0, 1);
      let now = start;
      const uses = createSecretUses(db, () => now, logger);
      const seen = async () => (await readSecretUses(db))('oa', 's1')?.getTime();
      const note = () => uses.note({ clientId: 'oa', secretId: 's1' });
      note();
      await until('the first use', async () => (await seen()) === start);
      now = start + 59_000;
      note();
      // The first use of another secret is written by the next look, which leaves this one alone.
      uses.note({ clientId: 'oa', secretId: 's2' });
      await until('the next look', async () => (await readSecretUses(db))('oa', 's2') !== null);
      expect(await seen()).toBe(start);
      now = start + 61_000;
      await until('the next one', async () => (await seen()) === start + 59_000);
      now = start + 62_000;
      note();
      await uses.stop();
      expect(await seen()).toBe(start + 62_000);
    });

    test('of two processes the later one counts, whoever writes last', async () => {
      const at = (now: number) => createSecretUses(db, () => now, logger);
      for (const now of [2_000, 1_000]) {
        const uses = at(now);
        uses.note({ clientId: 'oa', secretId: 's1' });
        await uses.stop();
      }
      const lastUseOf = await readSecretUses(db);
      expect(lastUseOf('oa', 's1')?.getTime()).toBe(2_000);
      expect(lastUseOf('oa', 's2')).toBeNull();
    });
  });

  describe('sealing anew', () => {
    test('moves every secret that works, once, and the secrets stay what they were', async () => {
      const first = await add('a');
      const { secret } = await createClientAdmin(db, OLD, clock).rotate('a', 3_600_000);
      const other = await add('b');
      expect(await usable('a')).toEqual([]);
      expect(await reseal()).toEqual({ keyId: 'k2', resealed: 3, left: {} });
      expect(await usable('a')).toEqual([secret, first]);
      expect(await usable('b')).toEqual([other]);
      const before = await secretsOf('a');
      expect(await reseal()).toEqual({ keyId: 'k2', resealed: 0, left: {} });
      expect(await secretsOf('a')).toEqual(before);
    });

    test('killed after any of its writes it leaves every secret whole, and may be run again', async () => {
      const secrets = [await add('a'), await add('b')];
      secrets.push((await createClientAdmin(db, OLD, clock).rotate('a', 3_600_000)).secret);
      const model = clientModel(db);
      const before = await model.find().lean();
      const updateOne = model.updateOne.bind(model);
      for (const last of [1, 2, 3]) {
        await model.deleteMany();
        await model.insertMany(before);
        let writes = 0;
        const write = jest.spyOn(model, 'updateOne').mockImplementation(((
          filter: object,
          to: object,
        ) =>
          updateOne(filter, to).then((result) => {
            writes += 1;
            if (writes === last) throw new Error('killed');
            return result;
          })) as never);
        await expect(reseal()).rejects.toThrow('killed');
        write.mockRestore();
        expect((await opened(BOTH)).sort()).toEqual([...secrets].sort());
        expect(await reseal()).toEqual({ keyId: 'k2', resealed: 3 - last, left: {} });
        expect((await opened(NEW)).sort()).toEqual([...secrets].sort());
      }
    });

    test('tells what it cannot open, and moves the rest', async () => {
      await add('a', createKeyRing([key('gone', 9)]));
      await add('b');
      await add('c', createKeyRing([key('gone', 9)]));
      expect(await reseal()).toEqual({ keyId: 'k2', resealed: 1, left: { gone: 2 } });
      expect(await reseal(NEW)).toMatchObject({ resealed: 0, left: { gone: 2 } });
    });

    test('moves secrets that have ended too: the doctor knows by them that one was used', async () => {
      const first = await add('a');
      const { secret } = await createClientAdmin(db, OLD, clock).rotate('a', 0);
      expect(await reseal()).toEqual({ keyId: 'k2', resealed: 2, left: {} });
      const held = await createFindStoredSecrets(db, NEW)('a');
      expect(held.map((one) => one.secret)).toEqual([secret, first]);
      expect(await usable('a')).toEqual([secret]);
    });

    test('one that has ended under a key that is gone keeps nobody waiting for that key', async () => {
      await add('a', createKeyRing([key('gone', 9)]));
      await createClientAdmin(db, OLD, clock).rotate('a', 0);
      expect(await reseal()).toEqual({ keyId: 'k2', resealed: 1, left: {} });
      expect(await keysOf('a')).toEqual(['k2', 'gone']);
    });

    test('a rotation that has read the old seal does not put it back', async () => {
      await add('a');
      const late = connectionThatWaits(db, reseal);
      const rotation = rotateSecret(late, BOTH, 'a', { overlap: 3_600_000, now: Date.now() });
      await expect(rotation).rejects.toThrow('was changed by another command; try again');
      expect(await keysOf('a')).toEqual(['k2']);
      await createClientAdmin(db, BOTH, clock).rotate('a', 3_600_000);
      expect(await keysOf('a')).toEqual(['k2', 'k2']);
    });

    test('of two first secrets at once one is given, and no operator is told of one that is lost', async () => {
      await add('a');
      await clientModel(db).updateOne({ _id: 'a' }, { $set: { secrets: [] } });
      const admin = createClientAdmin(db, NEW, clock);
      let won = '';
      const late = connectionThatWaits(db, async () => {
        won = (await admin.rotate('a', 0)).secret;
      });
      const lost = rotateSecret(late, NEW, 'a', { overlap: 0, now: Date.now() });
      await expect(lost).rejects.toThrow('was changed by another command; try again');
      expect(await usable('a')).toEqual([won]);
    });

    test('beside a crowd of rotations loses no secret, and leaves none behind', async () => {
      const ids = Array.from({ length: 40 }, (_, n) => `c${n}`);
      const first = new Map<string, string>();
      for (const id of ids) first.set(id, await add(id));
      const admin = createClientAdmin(db, BOTH, clock);
      const rotate = async (id: string): Promise<string> => {
        await sleep(Math.random() * 300);
        try {
          return (await admin.rotate(id, 3_600_000)).secret;
        } catch (error) {
          if (!String(error).includes('try again')) throw error;
          return rotate(id);
        }
      };
      const [resealed, ...rotated] = await Promise.all([reseal(), ...ids.map(rotate)]);
      expect(resealed).toMatchObject({ keyId: 'k2', left: {} });
      const expected = ids.map((id, n) => [rotated[n], first.get(id)]);
      expect(await Promise.all(ids.map(usable))).toEqual(expected);
    });
  });
});

/** A connection over which a rotation is held up between its look and its write. */
function connectionThatWaits(db: Connection, meanwhile: () => Promise<unknown>): Connection {
  const collection: Connection['collection'] = (name) => {
    const real = db.collection(name);
    const find = () => ({ toArray: () => meanwhile().then(() => real.find({}).toArray()) });
    return Object.create(real, { find: { value: find } });
  };
  return Object.create(db, { collection: { value: collection } });
}

describe('a running service', () => {
  let service: Service;
  /** The service's own key, and the one that is to follow it. */
  const keys = { old: '', next: key('next', 3) };
  beforeAll(async () => {
    const env = { SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')},${keys.next}` };
    service = await startService({ env });
    [keys.old = ''] = env.SECRET_KEYS.split(',');
  });
  afterAll(() => service.stop());

  const ctl = async (args: string[], more: object = {}) =>
    matterctl([...args, '--json'], { env: { ...service.env, ...more } });
  const push = (secret = service.secret, url = service.urlOf()) => {
    const body = { matterType: 'TODO', externalId: 'KEYS', title: 'x' };
    return service.push('upsert', body, { secret, url });
  };
  const secrets = async () => {
    const clients = JSON.parse((await ctl(['client', 'list'])).stdout);
    const { secrets: listed } = clients.find(
      ({ clientId }: { clientId: string }) => clientId === service.clientId,
    );
    return listed as { id: string; lastUsedAt: string | null }[];
  };

  test('tells when a secret was used last, also the one that is rotated out', async () => {
    expect(await secrets()).toMatchObject([{ lastUsedAt: null }]);
    const start = Date.now();
    expect(await push()).toMatchObject({ code: 0 });
    const used = await until('the use', async () => (await secrets())[0]?.lastUsedAt ?? undefined);
    expect(Date.parse(used)).toBeGreaterThanOrEqual(start);

    const rotated = JSON.parse((await ctl(['client', 'rotate', service.clientId])).stdout);
    expect(rotated.oldSecretLastUsedAt).toBe(used);
    const [current, retiring] = await secrets();
    expect([current?.lastUsedAt, retiring?.lastUsedAt]).toEqual([null, used]);

    // The old secret still signs. A process that drains has told all that it has seen.
    const web = await service.startWeb();
    const again = Date.now();
    expect(await push(service.secret, service.urlOf(1))).toMatchObject({ code: 0 });
    await web.stop();
    const [, still] = await secrets();
    expect(Date.parse(String(still?.lastUsedAt))).toBeGreaterThanOrEqual(again);
    expect(await push('a wrong secret')).toMatchObject({ code: 401 });
    expect((await secrets())[0]?.lastUsedAt).toBeNull();
    const { stdout } = await matterctl(['client', 'list'], { env: service.env });
    const lastUse = localTime(String(still?.lastUsedAt), 'Asia/Shanghai').slice(0, 16);
    expect(stdout).toMatch(new RegExp(`${current?.id} +push, query +- +not used`));
    expect(stdout).toMatch(new RegExp(`${retiring?.id} +push, query +2.* +${lastUse}\n`));
    expect(stdout).toMatch(/\nAll times: Asia\/Shanghai\n$/);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
  });

  test('is given a new master key without a pause, and works with that one alone', async () => {
    const codes = new Set<number>();
    let isOver = false;
    let policy: unknown;
    const pushing = (async () => {
      while (!isOver) {
        const { code, headers } = await push();
        codes.add(code);
        policy = headers['ratelimit-policy'];
      }
    })();
    const swapped = { SECRET_KEYS: `${keys.next},${keys.old}` };
    const resealed = await ctl(['client', 'reseal'], swapped);
    expect(resealed).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(resealed.stdout)).toEqual({ keyId: 'next', resealed: 2, left: {} });
    // The limit shows that the web process has read the client anew.
    await ctl(['client', 'limit', service.clientId, '--rate', '10000', '--burst', '10000']);
    await until('the web process to read it', async () => policy !== undefined);
    isOver = true;
    await pushing;
    expect([...codes]).toEqual([0]);
    await service.startWeb({ SECRET_KEYS: keys.next });
    expect(await push(service.secret, service.urlOf(2))).toMatchObject({ code: 0 });
    expect((await ctl(['client', 'reseal'], swapped)).stdout).toContain('"resealed":0');
  });

  test('what another key seals is told by the key’s id, and the command fails', async () => {
    const stray = { SECRET_KEYS: key('stray', 5) };
    await ctl(['client', 'create', '--id', 'stray', '--system-code', 'S'], stray);
    const left = await ctl(['client', 'reseal'], { SECRET_KEYS: keys.next });
    expect(left.exitCode).toBe(1);
    expect(JSON.parse(left.stdout)).toEqual({ keyId: 'next', resealed: 0, left: { stray: 1 } });
    expect(left.stderr).toContain('secrets are left under stray');
  });
});
