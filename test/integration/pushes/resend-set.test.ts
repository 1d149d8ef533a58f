/** `push-logs/resend` with `set`, and resends of changed resends (contract 7.5). */
import type { ResendData, ResendResult } from '../../../src/protocol/resend';
import { importUsers } from '../../../src/storage/directory/user-admin';
import { matterModel } from '../../../src/storage/ledger/matters';
import { bodyModel, entryModel } from '../../../src/storage/push-log/entry';
import { makeConsoleKey } from '../../support/console-key';
import { notice, todo } from '../../support/push-bodies';
import type { Answer, PushOptions } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

type ResendAnswer = Omit<Answer, 'data'> & { readonly data: ResendData };

let service: Service;
beforeAll(async () => {
  service = await startService({ processes: 'workers', workers: 1 });
});
afterAll(() => service?.stop());

const ask = async (body: object, options: Partial<PushOptions> = {}) => {
  const path = '/api/open/push-logs/resend';
  return (await service.push('', body, { path, ...options })) as unknown as ResendAnswer;
};
const resultsOf = (answer: ResendAnswer) => answer.data.results as ResendResult[];
/** @returns the outcome of each push, or its reason and invalid fields; in a dry run `valid` */
const shortly = (answer: ResendAnswer) =>
  resultsOf(answer).map(
    ({ outcome, errors = [], reason }) =>
      outcome ?? [reason ?? 'valid', ...errors.map(({ field }) => field)].join(' '),
  );
/** @returns the request id of a push that was rejected */
async function rejected(body: object, idempotencyKey?: string): Promise<string> {
  const answer = await service.push('upsert', body, { ...(idempotencyKey && { idempotencyKey }) });
  expect(answer.code).toBe(400);
  return answer.requestId;
}
const idIn = (answer: ResendAnswer) => String(resultsOf(answer)[0]?.requestId);
/**
 * Sends requests that meet before a worker applies one: all of them have recorded a push. Where one came so late
 * that it found a push of another waiting, it recorded none, and other requests are sent.
 *
 * @param begin makes what an attempt is about. @returns that of the attempt in which all met
 */
async function meeting<T extends { readonly from: readonly string[] }>(
  begin: (attempt: number) => Promise<T>,
  requests: (about: T) => readonly (() => Promise<ResendAnswer>)[],
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const about = await begin(attempt);
    for (const worker of service.workers) worker.kill('SIGSTOP');
    const sent = requests(about).map((send) => send());
    let isAnswered = false;
    const note = () => {
      isAnswered = true;
    };
    for (const one of sent) one.then(note, note);
    const filter = { resentFrom: { $in: [...about.from] } };
    const haveMet = async () =>
      (await entryModel(service.db).countDocuments(filter)) === sent.length;
    try {
      await until('all to be recorded', async () => (await haveMet()) || isAnswered);
    } finally {
      for (const worker of service.workers) worker.kill('SIGCONT');
    }
    await Promise.all(sent);
    if (await haveMet()) return about;
  }
}
const titlesOf = async (title: RegExp) =>
  (await matterModel(service.db).find({ title }).lean().exec()).map((found) => found.title).sort();
const party = (username: string, partyRole = 'CC') => ({ username, partyRole });

test('a hundred invalid elements of a list are set, in the plan and in the resend', async () => {
  const users = Array.from({ length: 100 }, (_, n) => `set-${n}`);
  await importUsers(
    service.db,
    users.map((username) => ({ username, displayName: username })),
  );
  const parties = users.map((username) => party(username, 'no role'));
  const id = await rejected(todo('HUNDRED', { parties }));
  const request = { requestIds: [id], set: [{ field: 'parties[].partyRole', value: 'CC' }] };
  await until('the users to be known', async () => {
    const plan = await ask({ ...request, dryRun: true });
    return plan.code === 0;
  });
  expect(await entryModel(service.db).countDocuments({ resentFrom: id })).toBe(0);
  expect(shortly(await ask(request))).toEqual(['CREATED']);
  const matter = await matterModel(service.db).findOne({ externalId: 'HUNDRED' }).lean().exec();
  expect(matter?.parties).toHaveLength(100);
});

test('a value that makes a body too large rejects the request before anything is written', async () => {
  const parties = Array.from({ length: 500 }, (_, n) => party(`nobody-${n}`));
  const ids = [
    await rejected(todo('SMALL', { title: '' })),
    await rejected(todo('L', { parties })),
  ];
  const set = [
    { field: 'title', value: 'set' },
    { field: 'parties[].username', value: 'x'.repeat(100 * 1024) },
  ];
  for (const dryRun of [true, false]) {
    const answer = await ask({ requestIds: ids, set, dryRun });
    expect(answer).toMatchObject({ status: 413, reason: 'BODY_TOO_LARGE', data: null });
    expect(answer.errors).toMatchObject([
      { field: 'set', message: expect.stringContaining('1048576') },
    ]);
  }
  expect(await entryModel(service.db).countDocuments({ resentFrom: { $in: ids } })).toBe(0);
  expect(await titlesOf(/^set$/)).toEqual([]);
  expect(shortly(await ask({ requestIds: ids.slice(0, 1), set }))).toEqual(['CREATED']);
});

test('a resend sends the body of the attempt that it names; of several, that of the latest', async () => {
  const body = (id: string) => todo(id, { title: '', parties: [party('nobody')] });
  const title = (value: string) => [{ field: 'title', value }];
  const users = [{ field: 'parties[].username', value: 'bob' }];
  const [first, other] = [await rejected(body('NAMED')), await rejected(body('LATEST'))];
  const early = await ask({ requestIds: [first, other], set: title('early') });
  expect(shortly(early)).toEqual(Array(2).fill('UNKNOWN_USER parties[0].username'));
  const late = await ask({ requestIds: [other], set: title('late') });
  const earlyIds = resultsOf(early).map(({ requestId }) => requestId);
  const of = (...requestIds: string[]) => ask({ requestIds, set: users, dryRun: true });
  expect(shortly(await of(first))).toEqual(['VALIDATION_FAILED title']);
  expect(shortly(await of(idIn(early), first, other))).toEqual([
    ...['valid', 'valid', 'VALIDATION_FAILED title'],
  ]);
  const unchanged = await ask({ requestIds: [idIn(early)] });
  expect(shortly(unchanged)).toEqual(['UNKNOWN_USER parties[0].username']);
  const digestOf = async (id: string) => {
    const entry = await entryModel(service.db).findById(id).lean().exec();
    return [entry?.bodyHash, entry?.bodySize, String(entry?.resentFrom)];
  };
  expect(await digestOf(idIn(unchanged))).toEqual(await digestOf(idIn(early)));
  const requestIds = [idIn(late), idIn(early), ...earlyIds.slice(1), other];
  expect(shortly(await ask({ requestIds, set: users }))).toEqual(Array(4).fill('CREATED'));
  expect(await titlesOf(/^(early|late)$/)).toEqual(['early', 'late']);
});

test('the first body does not have to be stored any more', async () => {
  const first = await rejected(todo('GONE', { title: '', bizType: 7 }));
  const half = await ask({ requestIds: [first], set: [{ field: 'title', value: 'gone' }] });
  await bodyModel(service.db).deleteOne({ _id: first });
  const set = [{ field: 'bizType', remove: true }];
  expect(shortly(await ask({ requestIds: [first], set }))).toEqual(['BODY_NOT_STORED']);
  expect(shortly(await ask({ requestIds: [idIn(half)], set }))).toEqual(['CREATED']);
  expect(await titlesOf(/^gone$/)).toEqual(['gone']);
});

test.each([undefined, 'NOTICE/key'])(
  'two resends at the same time with different values make one notice; key: %s',
  async (key) => {
    const { send, name } = await meeting(
      async (attempt) => {
        const id = await rejected(notice(undefined, { title: '' }), key && `${key} ${attempt}`);
        const name = `${key ?? 'no key'} ${attempt} `;
        const send = (title: string) =>
          ask({ requestIds: [id], set: [{ field: 'title', value: name + title }] });
        return { from: [id], name, send };
      },
      ({ send }) => [() => send('one'), () => send('two')],
    );
    await until('a resend that meets no other', async () => (await send('three')).code === 0);
    expect(await titlesOf(new RegExp(`^${name}`))).toHaveLength(1);
  },
);

/** Two attempts of a notice without an id: its sender has corrected the body under the same key, and it is still invalid. */
async function twoAttempts(name: string): Promise<[first: string, second: string]> {
  const body = (content: string) => notice(undefined, { title: '', content });
  return [await rejected(body('one'), `${name}/key`), await rejected(body('two'), `${name}/key`)];
}
const stillFailed = async (idempotencyKey: string) => {
  const path = '/api/open/push-logs/query';
  const { data } = await service.push('', { idempotencyKey, stillFailed: true }, { path });
  return (data as unknown as { entries: { requestId: string }[] }).entries;
};

test.each<[string, ...number[][]]>([
  ['the second', [1]],
  ['the first', [0]],
  ['both together', [0, 1]],
  ['one after the other', [1], [0]],
  ['one after the other, in order', [0], [1]],
])('attempts with one key are one notice: a resend of %s', async (name, ...requests) => {
  const attempts = await twoAttempts(name);
  const set = [{ field: 'title', value: name }];
  for (const [nth, places] of requests.entries()) {
    const requestIds = places.map((place) => String(attempts[place]));
    const results = resultsOf(await ask({ requestIds, set }));
    const expected = nth === 0 ? { sent: true, outcome: 'CREATED' } : { reason: 'RESOLVED_SINCE' };
    expect(results).toMatchObject(places.map(() => expected));
    expect(new Set(results.map(({ requestId }) => requestId)).size).toBe(1);
  }
  expect(await titlesOf(new RegExp(`^${name}$`))).toEqual([name]);
  expect(await stillFailed(`${name}/key`)).toEqual([]);
  const plan = await ask({ requestIds: attempts, set, dryRun: true });
  expect(resultsOf(plan).map(({ sent }) => sent)).toEqual([false, false]);
});

test('resends of two attempts with one key at the same time make one notice', async () => {
  const { from, name, send } = await meeting(
    async (attempt) => {
      const name = `MEET ${attempt}`;
      const send = (id: string) =>
        ask({ requestIds: [id], set: [{ field: 'title', value: name }] });
      return { from: await twoAttempts(name), name, send };
    },
    ({ from, send }) => from.map((id) => () => send(id)),
  );
  for (const id of from) {
    await until('a resend that meets no other', async () => {
      return resultsOf(await send(id)).every(({ reason }) => reason !== 'STILL_QUEUED');
    });
  }
  expect(await titlesOf(new RegExp(`^${name}$`))).toEqual([name]);
});

test('hostile requests: another client, a key without bodies, names of prototypes', async () => {
  const id = await rejected(todo('HOSTILE', { title: '', content: 'SECRET-TEXT', bizType: 7 }));
  const set = [{ field: 'bizType', value: { deep: 'x' } }];
  const key = await makeConsoleKey(service, '--may-push', '--no-bodies');
  const plan = await ask({ requestIds: [id], set, dryRun: true }, { secret: key.key });
  expect(resultsOf(plan)).toMatchObject([{ sent: true, code: 400 }]);
  expect(JSON.stringify(plan)).not.toContain('SECRET-TEXT');
  await entryModel(service.db).updateOne({ _id: id }, { $set: { clientId: 'another' } });
  const values = [{ field: 'title', value: 'mine' }, ...set];
  expect(shortly(await ask({ requestIds: [id], set: values }))).toEqual(['PUSH_NOT_FOUND']);
  expect(await titlesOf(/^mine$/)).toEqual([]);
});
