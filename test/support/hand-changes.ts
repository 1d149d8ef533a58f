/** Changes that somebody made in the ledger past the service, and what a comparison calls them. */
import type { mongo } from 'mongoose';
import type { MatterRecord } from '../../src/storage/ledger/matters';

type Matters = mongo.Collection<MatterRecord>;
type Change = (matter: MatterRecord) => Partial<MatterRecord> | undefined;

const HOUR = 3_600_000;
const moved = ({ sourceUpdatedAt }: MatterRecord, by: number) => ({
  sourceUpdatedAt: new Date(Number(sourceUpdatedAt) + by),
});

/** What is set, undefined: the document is removed; and the differences that it makes. */
const KINDS: readonly (readonly [Change, readonly string[]])[] = [
  [() => undefined, ['MISSING']],
  [() => ({ deleted: true, deletedAt: new Date(), phase: 'DELETED' }), ['DELETED']],
  [
    ({ bizStatus }) => ({ bizStatus: bizStatus === 'DONE' ? 'PENDING' : 'DONE' }),
    ['STATUS_DIFFERS'],
  ],
  [() => ({ externalStatusCode: 'BY_HAND' }), ['STATUS_DIFFERS']],
  [(matter) => moved(matter, -HOUR), ['STALE_HERE']],
  [() => ({ title: 'changed by hand' }), ['CONTENT_DIFFERS']],
  [({ parties }) => ({ parties: parties.slice(1) }), ['CONTENT_DIFFERS']],
  [(matter) => moved(matter, HOUR), ['NEWER_HERE']],
  [
    (matter) => ({ ...moved(matter, HOUR), title: 'changed by hand' }),
    ['NEWER_HERE', 'CONTENT_DIFFERS'],
  ],
];

/** @returns by externalId the differences that must be found; the same seed changes the same */
export async function changeByHand(
  matters: Matters,
  count: number,
  seed: number,
): Promise<Map<string, readonly string[]>> {
  const random = createRandom(seed);
  const alive = await matters.find({ deleted: false, 'parties.0': { $exists: true } }).toArray();
  const chosen = alive
    .sort((a, b) => (a.externalId < b.externalId ? -1 : 1))
    .map((matter) => ({ matter, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count);
  const expected = new Map<string, readonly string[]>();
  for (const [index, { matter }] of chosen.entries()) {
    const [change, differences] = KINDS[index % KINDS.length] ?? [];
    if (!change || !differences) throw new Error('no kind of change');
    const $set = change(matter);
    if ($set) await matters.updateOne({ _id: matter._id }, { $set });
    else await matters.deleteOne({ _id: matter._id });
    expected.set(matter.externalId, differences);
  }
  return expected;
}

/** Park and Miller's minimal standard: 0 to 1, the same for the same seed. */
function createRandom(seed: number): () => number {
  const PRIME = 2_147_483_647;
  let state = (seed % (PRIME - 1)) + 1;
  return () => {
    state = (state * 16_807) % PRIME;
    return state / PRIME;
  };
}
