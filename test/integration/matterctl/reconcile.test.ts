/** matterctl reconcile on a ledger that a service wrote: what differs is found, and mended. */
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { useReconcileRig } from '../../support/reconcile-rig';

const TIME = '2024-06-01T08:00:00Z';
const STAMP = new Date(TIME);
const MINUTE = 60_000;

const { compare, folder, matters, push, run, service, write } = useReconcileRig();
const upsert = (externalId: string, more: object = {}) => ({
  op: 'upsert',
  body: {
    matterType: 'TODO',
    externalId,
    title: `title of ${externalId}`,
    externalStatusCode: 'NEW',
    sourceUpdatedAt: TIME,
    deadlineAt: '2026-01-31T18:00:00',
    replaceParties: true,
    parties: [
      { username: 'alice', partyRole: 'ASSIGNEE' },
      { username: 'bob', partyRole: 'CC' },
    ],
    ...more,
  },
});
const ids = (count: number) => Array.from({ length: count }, (_, index) => `R-${index}`);
const writeLines = (name: string, all: readonly object[]) =>
  write(name, all.map((line) => `${JSON.stringify(line)}\n`).join(''));
/** Every difference as `id KIND`, and the summary. */
const reconcile = async (file: string, ...more: string[]) => {
  const { lines, ...rest } = await compare(file, ...more);
  const found = lines.map(({ externalId, difference }) => `${externalId} ${difference}`);
  return { ...rest, lines, found };
};
const change = (externalId: string, $set: object) =>
  matters().updateOne({ systemCode: 'TEST', externalId }, { $set });
const gone = { deleted: true, phase: 'DELETED', deletedAt: new Date() };

describe('the file that was pushed', () => {
  const pushes = [
    ...ids(9).map((id) => upsert(id)),
    { op: 'status', body: { externalId: 'R-0', bizStatus: 'DONE', sourceUpdatedAt: TIME } },
    { op: 'delete', body: { externalId: 'R-8', sourceUpdatedAt: TIME } },
  ];
  const spoil = async () => {
    await matters().deleteOne({ externalId: 'R-0' });
    await change('R-1', gone);
    await change('R-2', { sourceUpdatedAt: new Date(STAMP.getTime() - MINUTE) });
    await change('R-3', { externalStatusCode: 'OLD', bizStatus: 'DONE', phase: 'CONCLUDED' });
    await change('R-4', { title: 'by hand', deadlineAt: null, 'parties.0.username': 'carol' });
    await change('R-5', { sourceUpdatedAt: new Date(STAMP.getTime() + MINUTE), title: 'newer' });
    await change('R-8', { deleted: false, phase: 'OPEN', deletedAt: null });
    await service().push('upsert', upsert('X-1').body);
  };
  const FOUND = [
    'R-0 MISSING',
    'R-1 DELETED',
    'R-2 STALE_HERE',
    'R-3 STATUS_DIFFERS',
    'R-4 CONTENT_DIFFERS',
    'R-5 NEWER_HERE',
    'R-5 CONTENT_DIFFERS',
    'R-8 NOT_DELETED',
  ];
  let file: string;
  beforeEach(async () => {
    file = writeLines('pushes.ndjson', pushes);
    await push(file);
  });

  test('finds nothing where nobody touched the ledger', async () => {
    const { exitCode, stdout } = await run(file);
    expect(stdout).toMatch(/^9 matters compared, in .* s\n {2}equal +9\n$/);
    expect(exitCode).toBe(0);
    expect(existsSync(`${file}.repush.ndjson`)).toBe(false);
  });

  test('every kind is found with both sides, and pushing mends all but what is newer', async () => {
    await spoil();
    const before = await reconcile(file);
    expect(before).toMatchObject({ exitCode: 1, found: FOUND });
    expect(before.lines[4]).toEqual({
      externalId: 'R-4',
      difference: 'CONTENT_DIFFERS',
      yours: {
        title: 'title of R-4',
        deadlineAt: '2026-01-31T10:00:00.000Z',
        parties: ['ASSIGNEE alice', 'CC bob'],
      },
      here: { title: 'by hand', deadlineAt: null, parties: ['ASSIGNEE carol', 'CC bob'] },
      repush: 'upsert',
    });
    expect(before.summary).toMatchObject({
      compared: 9,
      equal: 2,
      differences: { MISSING: 1, CONTENT_DIFFERS: 2, NOT_DELETED: 1 },
      repushed: { upsert: 5, delete: 1 },
      notRepushed: { NEWER_HERE: 1 },
      repushFile: `${file}.repush.ndjson`,
    });
    expect(statSync(`${file}.repush.ndjson`).mode & 0o777).toBe(0o600);
    await push(`${file}.repush.ndjson`);
    const after = await reconcile(file);
    expect(after).toMatchObject({ exitCode: 1, found: ['R-5 NEWER_HERE', 'R-5 CONTENT_DIFFERS'] });
    expect(existsSync(`${file}.repush.ndjson`)).toBe(false);
  });

  test('what is newer is overwritten on demand; its time stays', async () => {
    await spoil();
    const out = join(folder, 'over.ndjson');
    const { summary } = await reconcile(file, '--overwrite-newer', '--repush', out);
    expect(summary).toMatchObject({ overwriting: 1, notRepushed: {} });
    await push(out);
    const after = await reconcile(file, '--overwrite-newer');
    expect(after).toMatchObject({ exitCode: 1, found: ['R-5 NEWER_HERE'] });
    expect(after.summary).toMatchObject({ repushFile: null, notRepushed: { ONLY_NEWER: 1 } });
  });

  test('orphans are listed only on demand, and never pushed', async () => {
    await push(
      writeLines('more.ndjson', [
        upsert('X-1'),
        upsert('X-2', { bizStatus: 'DRAFT', parties: [] }),
        upsert('X-3', { bizStatus: 'DONE' }),
        { op: 'upsert', body: { matterType: 'NOTICE', title: 'without an id' } },
      ]),
    );
    expect((await reconcile(file)).exitCode).toBe(0);
    const { exitCode, lines, summary } = await reconcile(file, '--orphans');
    expect(exitCode).toBe(1);
    expect(lines).toEqual([
      {
        externalId: 'X-1',
        difference: 'ORPHAN',
        yours: null,
        here: { bizStatus: 'PENDING', title: 'title of X-1', sourceUpdatedAt: STAMP.toISOString() },
        repush: null,
      },
      expect.objectContaining({ externalId: 'X-2', difference: 'ORPHAN' }),
    ]);
    expect(summary).toMatchObject({ differences: { ORPHAN: 2 }, repushFile: null });
  });

  test('the table is for people, and no longer than asked', async () => {
    await spoil();
    const { stdout, stderr } = await run(file, '--limit', '6');
    const table = stdout.split('\n').map((line) => line.trimEnd());
    expect(table.slice(0, 8)).toEqual([
      expect.stringMatching(/^EXTERNAL ID +DIFFERENCE +YOURS → HERE \(Asia\/Shanghai\) +RE-PUSH$/),
      expect.stringMatching(/^R-0 +MISSING +DONE NEW 2024-06-01 16:00:00 → not here +upsert$/),
      expect.stringMatching(/^R-1 +DELETED +false → true +upsert$/),
      expect.stringMatching(/^R-2 +STALE_HERE +2024-[-: .\d]+ → 2024-[-: .\d]+ +upsert$/),
      expect.stringMatching(
        /^R-3 +STATUS_DIFFERS +bizStatus: PENDING → DONE, externalStatusCode: NEW → OLD +upsert$/,
      ),
      expect.stringMatching(
        /^R-4 +CONTENT_DIFFERS +title: title of R-4 → by hand, deadlineAt: .*… +upsert$/,
      ),
      expect.stringMatching(/^R-5 +NEWER_HERE +2024-[-: .\d]+ → 2024-[-: .\d]+ +NEWER_HERE$/),
      '… and 2 more: --json lists all',
    ]);
    expect(stdout).toContain(`to push: ${file}.repush.ndjson\n  lines`);
    expect(stdout).toMatch(/not to push +1 {2}newer here than in the file \(--overwrite-newer/);
    expect(stderr).toBe(`matterctl: the file and the ledger differ: push ${file}.repush.ndjson\n`);
  });
});

describe('a list of another system', () => {
  beforeEach(() =>
    push(
      writeLines(
        'all.ndjson',
        ids(6).map((id) => upsert(id)),
      ),
    ),
  );
  const HEAD = 'externalId,bizStatus,sourceUpdatedAt,deleted,matterType,title,colour\n';

  test.each([
    ['UTF-8', (text: string) => Buffer.from(`\ufeff${text}`)],
    ['GBK', (text: string) => toGbk(text)],
  ])(
    'as CSV in %s: compared as far as it says something, mended as far as it can be',
    async (_, encode) => {
      await change('R-3', gone);
      const csv = `${HEAD}R-0,PENDING,2024-06-01 16:00:00,,,,red\nR-1,DONE,2024-06-01 16:01:00,,,,\nR-2,,,TRUE,,,\nR-3,DONE,,,,,\nR-7,DONE,${TIME},false,NOTICE,李雷,\nR-8,DONE,,,,,\nR-9,,,true,,,\n`;
      const file = write('list.csv', encode(csv));
      const before = await reconcile(file);
      expect(before.stderr).toContain('Unknown fields, ignored: colour\n');
      expect(before.found).toEqual([
        'R-1 STALE_HERE',
        'R-1 STATUS_DIFFERS',
        'R-2 NOT_DELETED',
        'R-3 DELETED',
        'R-7 MISSING',
        'R-8 MISSING',
      ]);
      expect(before.summary).toMatchObject({
        compared: 7,
        equal: 2,
        repushed: { status: 1, delete: 1, upsert: 1 },
        notRepushed: { NEEDS_CONTENT: 2 },
        untimed: 1,
      });
      await push(`${file}.repush.ndjson`);
      // Its status is mended; what it missed in between, a row without content cannot say.
      const after = (await reconcile(file)).found;
      expect(after).toEqual(['R-1 STALE_HERE', 'R-3 DELETED', 'R-8 MISSING']);
      expect(await matters().findOne({ externalId: 'R-7' })).toMatchObject({ title: '李雷' });
    },
  );

  test('as NDJSON', async () => {
    const file = writeLines('list.ndjson', [
      { externalId: 'R-0', externalStatusCode: null },
      { externalId: 'R-1', sourceUpdatedAt: STAMP.getTime() - MINUTE },
      { externalId: 'R-2', bizStatus: 'PENDING', externalStatusCode: 'NEW', deleted: false },
    ]);
    const before = await reconcile(file, '--overwrite-newer');
    expect(before.found).toEqual(['R-0 STATUS_DIFFERS', 'R-1 NEWER_HERE']);
    await push(`${file}.repush.ndjson`);
    expect((await reconcile(file)).found).toEqual(['R-1 NEWER_HERE']);
  });

  test('the wrong system is guessed', async () => {
    const file = writeLines('list.ndjson', [{ externalId: 'R-0' }]);
    const { stderr } = await run(file, '--system-code', 'TSET');
    expect(stderr).toContain('None of the matters is here: is TSET the right system?');
  });
});

describe('a bad line', () => {
  test('is named and left out, and the others are compared', async () => {
    const [one = {}, two = {}, ...more] = ids(12).map((id) => upsert(id));
    await push(writeLines('good.ndjson', [one, ...more]));
    const file = writeLines('bad.ndjson', [one, { ...one, op: 'upset' }, two, ...more]);
    const bad = await reconcile(file);
    expect(bad).toMatchObject({
      exitCode: 1,
      found: ['R-1 MISSING'],
      summary: { compared: 12, equal: 11, leftOut: 1, repushed: { upsert: 1 } },
    });
    expect(bad.stderr).toMatch(new RegExp(`^${file}:2: op must be one of upsert`));
    expect(bad.stderr).toContain('1 bad line is left out, the others are compared.\n');
  });

  test('counts also where nothing differs', async () => {
    await push(
      writeLines(
        'good.ndjson',
        ids(20).map((id) => upsert(id)),
      ),
    );
    const all = ids(20).map((externalId) => ({ externalId }));
    const file = writeLines('bad.ndjson', [
      { externalId: 'R-0' },
      ...all.slice(0, 1),
      {},
      ...all.slice(1),
    ]);
    const { exitCode, stdout, stderr } = await run(file, '--orphans');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^ {2}left out +2 {2}bad lines, named above$/m);
    expect(stderr).toContain(
      `${file}:2: R-0 stands on line 1 too\n${file}:3: externalId is missing`,
    );
    expect(stderr).toContain('What the lines left out are about may be among the orphans.\n');
    expect(stderr).toContain(
      'matterctl: 2 bad lines were left out: correct them and run the command again\n',
    );
  });

  test('of the re-push file is told beforehand: its users, its form', async () => {
    const file = writeLines('rows.ndjson', [
      { externalId: 'R-0', matterType: 'TODO', title: 'fine' },
      { externalId: 'R-1', matterType: 'TODO', title: '' },
      {
        ...{ externalId: 'R-2', matterType: 'TODO', title: 'whose?' },
        parties: ['alice', 'nobody.1', 'nobody.2'].map((username) => ({
          ...{ username, partyRole: 'ASSIGNEE' },
        })),
      },
    ]);
    const { exitCode, stderr, summary } = await reconcile(file);
    expect({ exitCode, wouldFail: summary.wouldFail }).toEqual({ exitCode: 1, wouldFail: 2 });
    const repushed = `${file}.repush.ndjson`;
    expect(stderr).toContain(`${repushed}:2: R-1: VALIDATION_FAILED title: `);
    expect(stderr).toMatch(
      /rows\.ndjson\.repush\.ndjson:3: R-2: UNKNOWN_USER parties\[1\]\.username: .*nobody\.1 parties\[2\]\.username: .*nobody\.2\n/,
    );
    expect(stderr).not.toContain(`${repushed}:1:`);
  });
});

describe('nothing is compared and nothing written', () => {
  test('where no line can be compared', async () => {
    const file = writeLines('bad.ndjson', [{}]);
    expect(await run(file)).toMatchObject({ exitCode: 2, stdout: '' });
    expect(existsSync(`${file}.repush.ndjson`)).toBe(false);
  });

  test('where it would overwrite itself, under whatever name', async () => {
    const file = writeLines('in.ndjson', [{ externalId: 'A' }]);
    symlinkSync(folder, join(folder, 'link'));
    for (const repush of [file, join(folder, 'link', 'in.ndjson')]) {
      const { exitCode, stderr } = await run(file, '--repush', repush);
      expect(exitCode).toBe(2);
      expect(stderr).toContain('input and re-push must be two files');
    }
    expect(readFileSync(file, 'utf8')).toBe('{"externalId":"A"}\n');
  });

  test('from standard input, which cannot be read twice', async () => {
    expect(await run('-')).toMatchObject({ exitCode: 2 });
  });
});

/** Only what the tests write: node encodes no GBK. */
function toGbk(text: string): Buffer {
  const known: Record<string, number[]> = { 李: [0xc0, 0xee], 雷: [0xc0, 0xd7] };
  return Buffer.from([...text].flatMap((it) => known[it] ?? [...Buffer.from(it)]));
}
