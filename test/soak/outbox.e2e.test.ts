/** The outbox example: business transactions, rejected and retryable rows, and a relay that is killed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { matterModel } from '../../src/storage/ledger/matters';
import type { GuardedProgram } from '../../tools/local/process-guard';
import { missingForOutbox, type OutboxRig, startOutboxRig } from '../support/outbox-rig';
import { startReceiver } from '../support/receiver';
import { startRelay } from '../support/relay';
import { until } from '../support/wait';

const EXAMPLE = join(__dirname, '../../examples/outbox');
const missing = missingForOutbox();
if (missing) {
  console.warn(`SKIPPED: the outbox example was not tried, because there is no ${missing} here`);
  test.skip(`the outbox example (skipped: no ${missing} here)`, () => {});
} else {
  describe('the outbox example', tryOutbox);
}

function tryOutbox(): void {
  let rig: OutboxRig;
  let relays: GuardedProgram[] = [];
  beforeAll(async () => {
    rig = await startOutboxRig();
  });
  afterAll(() => rig?.stop());
  afterEach(async () => {
    for (const relay of relays) relay.kill('SIGKILL');
    await Promise.all(relays.map(({ exited }) => exited));
    relays = [];
    await rig.db.query('DELETE FROM outbox');
  });
  const relayTo = async (url?: string) => {
    const relay = await rig.startRelay(url);
    relays.push(relay);
    return relay;
  };
  const stored = (externalId: string) =>
    matterModel(rig.service.db).findOne({ systemCode: 'TEST', externalId }).lean();
  const rows = (columns: string) => rig.db.query(`SELECT ${columns} FROM outbox ORDER BY id`);
  const upsert = (externalId: string, more = {}) =>
    insert('upsert', { matterType: 'TODO', externalId, title: '采购申请', ...more });
  const insert = (op: string, body: object) =>
    `INSERT INTO outbox (op, body) VALUES ('${op}', '${JSON.stringify(body)}');`;

  test('its README shows the commands and all settings, and its SQL runs', async () => {
    const readme = readFileSync(join(EXAMPLE, 'README.md'), 'utf8');
    const commands = ['Outbox submit', 'Outbox approve', 'Outbox relay'];
    const names = ['JDBC_URL', 'MATTER_PUSH_URL', 'CLIENT_ID', 'CLIENT_SECRET'];
    for (const text of [...commands, ...names]) expect(readme).toContain(text);
    const [, sql = ''] = /```sql\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(sql).toContain('DELETE FROM outbox');
    await rig.db.query(sql);
    const { code, stderr } = await rig.outbox('nothing');
    expect([code, stderr]).toEqual([
      2,
      'usage: Outbox submit ID TITLE APPROVER | approve ID | relay\n',
    ]);
  });

  test('a business change and its push are committed together, and the relay sends them', async () => {
    expect(await rig.outbox('submit PR-1 采购申请 alice')).toMatchObject({ code: 0 });
    // The same request again, and one that does not exist: neither a change nor a push.
    expect(await rig.outbox('submit PR-1 采购申请 bob')).toMatchObject({ code: 1 });
    expect(await rig.outbox('approve PR-2')).toMatchObject({ code: 1 });
    expect(await rig.outbox('approve PR-1')).toMatchObject({ code: 0 });
    expect(await rows('op, external_id, state, tries')).toEqual([
      ['upsert', 'PR-1', 'waiting', '0'],
      ['status', 'PR-1', 'waiting', '0'],
    ]);
    await relayTo();
    await rig.untilNoneWaits();
    expect(await rows("op, state, tries, reason, answer ->> 'outcome'")).toEqual([
      ['upsert', 'done', '1', '', 'CREATED'],
      ['status', 'done', '1', '', 'UPDATED'],
    ]);
    const matter = await stored('PR-1');
    expect(matter).toMatchObject({ title: '采购申请', bizStatus: 'APPROVED' });
    expect(matter?.parties).toMatchObject([{ username: 'alice', partyRole: 'ASSIGNEE' }]);
    const [[id] = []] = await rows('id');
    const key = { idempotencyKey: `outbox-${id}` };
    expect(await rig.service.db.collection('push_log').countDocuments(key)).toBe(1);
  });

  test('a row that is rejected for good is kept with its reason, and later rows of its matter go on', async () => {
    const parties = [{ username: 'nobody-knows', partyRole: 'ASSIGNEE' }];
    await rig.db.query(
      upsert('PR-3', { parties }) +
        upsert('PR-3', { title: '差旅报销' }) +
        insert('status', { externalId: 'PR-4', bizStatus: 'APPROVED' }),
    );
    await relayTo();
    await rig.untilNoneWaits();
    const columns = "state, reason, answer ->> 'requestId' IS NOT NULL, finished_at IS NOT NULL";
    expect(await rows(columns)).toEqual([
      ['failed', 'UNKNOWN_USER', 't', 't'],
      ['done', '', 't', 't'],
      ['failed', 'MATTER_NOT_FOUND', 't', 't'],
    ]);
    expect(rig.printed()).toMatch(/^row \d+ failed: UNKNOWN_USER$/m);
    expect(await stored('PR-3')).toMatchObject({ title: '差旅报销', parties: [] });
  });

  test('a retryable row waits for Retry-After, and the later rows of its matter wait behind it', async () => {
    const envelope = (code: number, more: object, retryAfter = '0') => ({
      status: code || 200,
      headers: { 'Retry-After': retryAfter },
      body: JSON.stringify({ code, message: '', ...more }),
    });
    const receiver = await startReceiver(
      // Neither of them is a result of a row.
      envelope(401, { data: null, reason: 'SIGNATURE_MISMATCH', retryable: false }),
      { status: 502, body: '<html>bad gateway</html>' },
      'drop',
      'drop',
      envelope(
        207,
        {
          data: {
            results: [
              { line: 1, code: 503, reason: 'PARTITION_FULL', retryable: true },
              { line: 2, code: 0 },
            ],
          },
        },
        '3',
      ),
      envelope(0, { data: { results: [{ line: 1, code: 0 }] } }),
    );
    try {
      await rig.db.query(upsert('PR-5') + upsert('PR-5', { title: '2' }) + upsert('PR-6'));
      const [[begin] = []] = await rig.db.query('SELECT now()');
      await relayTo(receiver.url);
      await rig.untilNoneWaits();
      const waited = `finished_at >= '${begin}'::timestamptz + interval '3 seconds'`;
      expect(await rows(`state, tries, ${waited}`)).toEqual([
        ['done', '2', 't'],
        ['done', '1', 't'],
        ['done', '1', expect.any(String)],
      ]);
      const sent = receiver.posts.map(({ text }) => text.trim().split('\n'));
      const [whole, again, second] = [sent[0], ...sent.slice(-2)];
      expect(whole).toHaveLength(2);
      expect(sent.slice(0, -2)).toEqual(sent.slice(0, -2).map(() => whole));
      expect(again).toEqual([whole?.[0]]);
      expect(second).toEqual([expect.stringContaining('"title": "2"')]);
    } finally {
      await receiver.stop();
    }
  });

  test('a relay that is killed before it reads the answer loses and doubles nothing', async () => {
    const gateway = await startRelay(rig.service.urlOf());
    try {
      gateway.fate = (_, nth) => (nth === 1 ? 'hold' : 'pass');
      await rig.db.query(upsert('PR-7'));
      const first = await relayTo(gateway.url);
      await until('the batch to be applied', async () => gateway.relayed.length > 0);
      first.kill('SIGKILL');
      await first.exited;
      expect(await rows('state, tries')).toEqual([['waiting', '0']]);
      await relayTo(gateway.url);
      await rig.untilNoneWaits();
      expect(await rows("state, tries, answer ->> 'outcome', answer ->> 'replayed'")).toEqual([
        ['done', '1', 'CREATED', 'true'],
      ]);
      expect(gateway.relayed.map(({ body }) => body)).toEqual([
        gateway.relayed[0]?.body,
        gateway.relayed[0]?.body,
      ]);
    } finally {
      await gateway.close();
    }
  });
}
