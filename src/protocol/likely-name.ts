/** Names that other systems use for each field, in lower case and without punctuation. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  deadlineAt: ['dueat', 'due', 'duedate', 'duetime', 'deadline', 'deadlinetime', 'expireat'],
  externalId: ['id', 'bizid', 'bizkey', 'businesskey', 'businessid', 'extid', 'outerid'],
  bizStatus: ['status', 'state', 'taskstatus'],
  parties: ['users', 'assignees', 'assignee', 'participants', 'members', 'handlers', 'recipients'],
  removeParties: ['removeusers', 'removedparties', 'deleteparties', 'removeassignees'],
  matterType: ['type', 'kind', 'tasktype'],
  title: ['name', 'subject'],
  summary: ['description', 'desc', 'abstract'],
  content: ['body', 'text'],
  pcUrl: ['url', 'link', 'weburl', 'href'],
  mobileUrl: ['appurl', 'h5url', 'murl'],
  bizType: ['category', 'businesstype'],
  sourceUpdatedAt: ['updatedat', 'updatetime', 'updatedtime', 'modifiedat', 'lastmodified'],
  initiatorUsername: ['initiator', 'creator', 'applicant', 'createdby'],
  payloadJson: ['payload', 'extra', 'ext', 'extension'],
  username: ['user', 'userid', 'account', 'login', 'loginname'],
  partyRole: ['role', 'type', 'partytype'],
};

/** Longer names get no suggestion, because `editDistance` is slow for long names. */
const MAX_COMPARED = 40;

/** @returns the element of `known` that `name` probably means; undefined if no element is similar */
export function likelyName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_COMPARED) return undefined;
  const wanted = plain(name);
  if (wanted === '') return undefined;
  const names = [...known];
  const same = names.find((it) => plain(it) === wanted);
  const alias = same ?? names.find((it) => ALIASES[it]?.includes(wanted));
  if (alias !== undefined) return alias;
  const maxEdits = Math.min(3, Math.floor(wanted.length / 3));
  const near = names
    .filter((it) => Math.abs(plain(it).length - wanted.length) <= maxEdits)
    .map((it) => ({ it, edits: editDistance(wanted, plain(it)) }))
    .filter(({ edits }) => edits <= maxEdits)
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.it;
}

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const replaced = at(row, j - 1) + (isSame ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? at(before, j - 2) + 1 : replaced;
      next.push(Math.min(replaced, swapped, at(row, j) + 1, at(next, j - 1) + 1));
    }
    before = row;
    row = next;
  }
  return at(row, b.length);
}

const at = (row: readonly number[], index: number) => row[index] ?? Number.POSITIVE_INFINITY;
