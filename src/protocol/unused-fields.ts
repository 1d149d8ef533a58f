/** The fields of a body that its operation does not read (decisions, "Operations"). */
import { OPERATIONS, type OperationName } from '../domain/operation';
import { batchLine } from './batch';
import type { JsonObject } from './json-body';
import { told } from './language';
import { likelyName } from './likely-name';
import { bodySchemas, party } from './requests';
import { unusedText } from './texts';
import type { WarningInBoth } from './warnings';

/** Fields that are named; a body may have a hundred thousand others. */
const MAX_NAMED = 20;
/** Longest name in an answer or in the log. */
const MAX_NAME = 64;

const SCHEMAS = bodySchemas({ timeZone: 'UTC', clock: () => 0 });
const fieldsOf = (name: OperationName) => new Set(Object.keys(SCHEMAS[name].in.shape));
const FIELDS: Readonly<Record<OperationName, ReadonlySet<string>>> = {
  upsert: fieldsOf('upsert'),
  status: fieldsOf('status'),
  reopen: fieldsOf('reopen'),
  delete: fieldsOf('delete'),
};
const PARTY_FIELDS: ReadonlySet<string> = new Set(Object.keys(party.shape));
const LINE_FIELDS: ReadonlySet<string> = new Set(Object.keys(batchLine.shape));
const ALL_FIELDS = new Set(OPERATIONS.flatMap((name) => [...FIELDS[name]]));

/**
 * Fields that are unknown, or known and not used by this operation, also within `parties`: the first 20.
 *
 * @param isRejected whether they are rejected, so that the message does not call them ignored
 * @param ofLine unknown fields beside the body, in its line of a batch
 */
export function unusedFields(
  body: JsonObject,
  operation: OperationName,
  isRejected: boolean,
  ofLine: readonly string[] = [],
): readonly WarningInBoth[] {
  const fields = FIELDS[operation];
  const found = ofLine
    .slice(0, MAX_NAMED)
    .map((name) => unknown('(line).', name, LINE_FIELDS, isRejected));
  for (const name of Object.keys(body)) {
    if (fields.has(name)) continue;
    if (found.length === MAX_NAMED) return found;
    found.push(unused(name, operation, isRejected));
  }
  const { parties } = body;
  if (!fields.has('parties') || !Array.isArray(parties)) return found;
  for (const [index, element] of parties.entries()) {
    if (typeof element !== 'object' || element === null) continue;
    for (const name of Object.keys(element)) {
      if (PARTY_FIELDS.has(name)) continue;
      if (found.length === MAX_NAMED) return found;
      found.push(unknown(`parties[${index}].`, name, PARTY_FIELDS, isRejected));
    }
  }
  return found;
}

function unused(name: string, operation: OperationName, isRejected: boolean): WarningInBoth {
  const texts = unusedText(isRejected);
  if (name === 'systemCode') {
    return { field: name, ...told(texts.systemCode), kind: 'SYSTEM_CODE_IGNORED' };
  }
  if (!ALL_FIELDS.has(name)) return unknown('', name, FIELDS[operation], isRejected);
  return { field: name, ...told(texts.notApplicable(operation)), kind: 'FIELD_NOT_APPLICABLE' };
}

function unknown(
  path: string,
  name: string,
  known: ReadonlySet<string>,
  isRejected: boolean,
): WarningInBoth {
  const suggestion = likelyName(name, known);
  const field = path + (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);
  return {
    field,
    ...told(unusedText(isRejected).unknown(suggestion)),
    kind: 'UNKNOWN_FIELD',
    ...(suggestion !== undefined && { suggestion }),
  };
}
