/** The fields of the contract, as its own readers tell them: a new field cannot be forgotten. */
import { failuresSchema } from '../../src/protocol/failures';
import { logQuerySchema } from '../../src/protocol/log-query';
import { createMatterQueryReaders } from '../../src/protocol/matter-queries';
import { statsSchema } from '../../src/protocol/push-stats';
import { createBodyParsers } from '../../src/protocol/requests';
import { usersCheckSchema } from '../../src/protocol/users-check';
import { CONTRACT } from './bodies';
import { resultOf } from './steps';

const { upsert, status, reopen, delete: remove } = createBodyParsers(CONTRACT);
const { get, query, diff, digest } = createMatterQueryReaders(CONTRACT.timeZone);
const log = logQuerySchema(CONTRACT.timeZone);
const stats = statsSchema(CONTRACT.timeZone);
const failures = failuresSchema(CONTRACT.timeZone);
const PARTY = { username: 'alice', partyRole: 'ASSIGNEE' };
const MATTER = { externalId: 'KEPT' };
const UPSERT = { ...MATTER, matterType: 'TODO', title: 'changed', parties: [PARTY] };

type Read = (body: unknown) => unknown;

/** An endpoint with a body that it takes. */
interface Endpoint {
  readonly path: string;
  readonly valid: object;
  readonly read: Read;
}

export const ENDPOINTS: readonly Endpoint[] = [
  { path: 'matters/upsert', valid: UPSERT, read: upsert },
  { path: 'matters/status', valid: { ...MATTER, bizStatus: 'DONE' }, read: status },
  { path: 'matters/reopen', valid: { ...MATTER, bizStatus: 'REOPENED' }, read: reopen },
  { path: 'matters/delete', valid: MATTER, read: remove },
  { path: 'push-logs/query', valid: {}, read: (body) => log.safeParse(body) },
  { path: 'push-logs/failures', valid: {}, read: (body) => failures.safeParse(body) },
  { path: 'push-logs/stats', valid: {}, read: (body) => stats.safeParse(body) },
  { path: 'matters/get', valid: { externalIds: ['KEPT'] }, read: get },
  { path: 'matters/query', valid: {}, read: query },
  { path: 'matters/diff', valid: { lines: [MATTER] }, read: (body) => resultOf(diff(body)) },
  { path: 'matters/digest', valid: {}, read: digest },
  {
    path: 'users/check',
    valid: { usernames: ['alice'] },
    read: (body) => usersCheckSchema.safeParse(body),
  },
];

/** One place in a body where a caller's value stands. */
export interface Place {
  readonly path: string;
  /** As an error names it. */
  readonly field: string;
  /** A body that is good but for the value in this place. */
  readonly bodyWith: (value: unknown) => object;
}

/** The lists of the contract, by the name that an error gives to their first element. */
const LISTS: Record<string, readonly [path: string, field: string, element: object]> = {
  'parties[0]': ['matters/upsert', 'parties', PARTY],
  'lines[0]': ['matters/diff', 'lines', MATTER],
};

export const PLACES: readonly Place[] = [
  ...ENDPOINTS.flatMap(({ path, valid, read }) =>
    fieldsOf(read).map((field) => ({
      path,
      field,
      bodyWith: (value: unknown) => ({ ...valid, [field]: value }),
    })),
  ),
  {
    ...{ path: 'matters/get', field: 'externalIds[0]' },
    bodyWith: (value) => ({ externalIds: [value] }),
  },
  {
    ...{ path: 'users/check', field: 'usernames[0]' },
    bodyWith: (value) => ({ usernames: [value] }),
  },
  ...Object.entries(LISTS).flatMap(([name, [path, list, element]]) => {
    const { valid, read } = endpoint(path);
    const bodyWith = (value: unknown) => ({ ...valid, [list]: [value] });
    const within = fieldsOf((value) => read(bodyWith(value))).map((field) => ({
      path,
      field: `${name}.${field}`,
      bodyWith: (value: unknown) => bodyWith({ ...element, [field]: value }),
    }));
    return [{ path, field: name, bodyWith }, ...within];
  }),
];

function endpoint(path: string): Endpoint {
  const found = ENDPOINTS.find((one) => one.path === path);
  if (!found) throw new Error(`no endpoint ${path}`);
  return found;
}

/** What a reader asks a body for. */
function fieldsOf(read: Read): string[] {
  const asked = new Set<string>();
  const body = new Proxy(
    {},
    {
      get: (_, name) => {
        asked.add(String(name));
        return undefined;
      },
    },
  );
  try {
    read(body);
  } catch {
    // An empty body is rejected by some; what they asked for is known by then.
  }
  return [...asked];
}
