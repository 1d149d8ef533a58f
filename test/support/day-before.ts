/** A day to look at: pushes of which some failed, spread over the working hours of yesterday, and a file that differs. */
import { type Connection, Types } from 'mongoose';
import { dayAt } from '../../src/protocol/local-day';
import { bodyModel, entryModel, type LogEntry } from '../../src/storage/push-log/entry';
import { countModel, type PushCountRecord } from '../../src/storage/push-log/read-counts';
import { seedLedger } from './ledger-seed';
import { pushDay } from './planted-day';
import type { Service } from './service';

const HOUR = 3_600_000;
const TITLES = ['采购申请', '请假申请', '合同审批', '费用报销', '用印申请'];

/**
 * @param timeZone of the portal
 * @returns the id of a push that failed
 */
export async function plantDayBefore(
  service: Service,
  pushes: number,
  timeZone: string,
): Promise<string> {
  for (const [n, title] of TITLES.entries()) {
    const parties = [
      { username: 'alice', partyRole: 'ASSIGNEE' },
      { username: 'bob', partyRole: 'CC' },
    ];
    const body = {
      ...{ matterType: n % 2 ? 'NOTICE' : 'TODO', externalId: `OA-2026-00${n}` },
      ...{ title: `${title} 2026-00${n}`, bizType: 'purchase', parties },
    };
    await service.push('upsert', body);
    await service.push('upsert', { ...body, title: `${body.title}（已更新）` });
  }
  const refused = { matterType: 'TODO', externalId: 'OA-2026-100', title: '', pcUrl: 'no url' };
  const { requestId } = await service.push('upsert', refused);
  await pushDay(service, pushes);
  const ids = await spread(service.db, timeZone);
  await seedLedger(service.db, 60, (n) => ({
    externalId: `PR-${n}`,
    title: `采购申请 ${n}`,
    bizType: TYPES[n % 3] ?? null,
    sourceUpdatedAt: stampOf(n),
    parties: [],
  }));
  return String(ids.get(requestId));
}

/** To nine to twenty o'clock, most of them in the middle; each takes as long as it took. Ids tell the time, too. */
async function spread(db: Connection, timeZone: string): Promise<ReadonlyMap<string, string>> {
  const today = dayAt(Date.now(), timeZone);
  const yesterday = dayAt(today.start - 1, timeZone).start;
  const log = entryModel(db).collection;
  const entries = await log.find().sort({ _id: 1 }).toArray();
  const times = entries.map(
    () => yesterday + 9 * HOUR + 5.5 * HOUR * (Math.random() + Math.random()),
  );
  // Later pushes stay later ones.
  times.sort((a, b) => a - b);
  const ids = new Map<string, string>();
  const moved = entries.map((entry, n) => {
    const receivedAt = times[n] ?? yesterday;
    const seconds = Math.floor(receivedAt / 1_000)
      .toString(16)
      .padStart(8, '0');
    const _id = new Types.ObjectId(`${seconds}${String(entry._id).slice(8)}`);
    ids.set(String(entry._id), String(_id));
    const took = Number(entry.settledAt) - Number(entry.receivedAt);
    const settledAt = entry.settledAt && new Date(receivedAt + took);
    return { ...entry, _id, receivedAt: new Date(receivedAt), settledAt };
  });
  await log.deleteMany({});
  await count(db, moved as unknown as readonly LogEntry[]);
  await log.insertMany(moved as never);
  const kept = bodyModel(db).collection;
  const bodies = await kept.find().toArray();
  await kept.deleteMany({});
  const idOf = (id: unknown) => new Types.ObjectId(ids.get(String(id)));
  await kept.insertMany(bodies.map((body) => ({ ...body, _id: idOf(body._id) })) as never);
  return ids;
}

/** As the service counts them: by hour. */
async function count(db: Connection, entries: readonly LogEntry[]): Promise<void> {
  const counts = new Map<string, PushCountRecord>();
  for (const { systemCode, clientId, operation, result, receivedAt } of entries) {
    if (!systemCode || !clientId || !operation || !result) continue;
    const hour = new Date(Math.floor(receivedAt.getTime() / HOUR) * HOUR);
    const of = { systemCode, clientId, operation, result, hour };
    const _id = JSON.stringify(of);
    const known = counts.get(_id) ?? { _id, ...of, latest: receivedAt, pushes: 0 };
    counts.set(_id, { ...known, pushes: (known.pushes ?? 0) + 1 });
  }
  const all = countModel(db).collection;
  await all.deleteMany({});
  await all.insertMany([...counts.values()] as never);
}

const TYPES = ['purchase', 'leave', 'contract'];
const stampOf = (n: number) => Date.UTC(2026, 0, 5 + (n % 8), 2);

/** What a business system says of the same matters: most of it is the same, some differs. */
export function differingFile(): string {
  const lines = Array.from({ length: 66 }, (_, n) => {
    const at = new Date(stampOf(n) + (n % 13 === 0 ? HOUR : 0)).toISOString();
    const status = n % 11 === 0 ? 'DONE' : 'PENDING';
    const title = n % 9 === 0 ? `采购申请 ${n}（加急）` : `采购申请 ${n}`;
    return `PR-${n},${status},${at},${title},${TYPES[n % 3]},TODO`;
  });
  const head = 'externalId,bizStatus,sourceUpdatedAt,title,bizType,matterType';
  return [head, ...lines, ',DONE'].join('\n');
}
