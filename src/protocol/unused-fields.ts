/** Finds fields of a body that the operation does not use (contract 4.9). */
import { OPERATIONS, type OperationName } from '../domain/operation';
import { batchLine } from './batch';
import { type JsonObject, shownName } from './json-body';
import { localized } from './language';
import { likelyName } from './likely-name';
import { partyBodySchema, partyRemovalBodySchema } from './party-fields';
import { bodySchemas } from './requests';
import { unusedText } from './texts';
import type { LocalizedWarning } from './warnings';

const MAX_REPORTED = 20;

const SCHEMAS = bodySchemas({ timeZone: 'UTC', clock: () => 0 });
const fieldsOf = (name: OperationName) => new Set(Object.keys(SCHEMAS[name].in.shape));
const FIELDS: Readonly<Record<OperationName, ReadonlySet<string>>> = {
  upsert: fieldsOf('upsert'),
  status: fieldsOf('status'),
  reopen: fieldsOf('reopen'),
  delete: fieldsOf('delete'),
};
const LISTS: readonly (readonly [list: string, fields: ReadonlySet<string>])[] = [
  ['parties', new Set(Object.keys(partyBodySchema.shape))],
  ['removeParties', new Set(Object.keys(partyRemovalBodySchema.shape))],
];
const LINE_FIELDS: ReadonlySet<string> = new Set(Object.keys(batchLine.shape));
const ALL_FIELDS = new Set(OPERATIONS.flatMap((name) => [...FIELDS[name]]));

/**
 * @param isRejected whether the service rejects unused fields
 * @param ofLine names of unknown fields in the batch line
 */
export function unusedFields(
  body: JsonObject,
  operation: OperationName,
  isRejected: boolean,
  ofLine: readonly string[] = [],
): readonly LocalizedWarning[] {
  const fields = FIELDS[operation];
  const found = ofLine
    .slice(0, MAX_REPORTED)
    .map((name) => unknown('(line).', name, LINE_FIELDS, isRejected));
  for (const name of Object.keys(body)) {
    if (fields.has(name)) continue;
    if (found.length === MAX_REPORTED) return found;
    found.push(unused(name, operation, isRejected));
  }
  for (const [list, known] of LISTS) {
    const elements = fields.has(list) ? body[list] : undefined;
    if (!Array.isArray(elements)) continue;
    for (const [index, element] of elements.entries()) {
      if (typeof element !== 'object' || element === null) continue;
      for (const name of Object.keys(element)) {
        if (known.has(name)) continue;
        if (found.length === MAX_REPORTED) return found;
        found.push(unknown(`${list}[${index}].`, name, known, isRejected));
      }
    }
  }
  return found;
}

function unused(name: string, operation: OperationName, isRejected: boolean): LocalizedWarning {
  const texts = unusedText(isRejected);
  if (name === 'systemCode') {
    return { field: name, ...localized(texts.systemCode), kind: 'SYSTEM_CODE_IGNORED' };
  }
  if (!ALL_FIELDS.has(name)) return unknown('', name, FIELDS[operation], isRejected);
  return {
    field: name,
    ...localized(texts.notApplicable(operation)),
    kind: 'FIELD_NOT_APPLICABLE',
  };
}

function unknown(
  path: string,
  name: string,
  known: ReadonlySet<string>,
  isRejected: boolean,
): LocalizedWarning {
  const suggestion = likelyName(name, known);
  return {
    field: path + shownName(name),
    ...localized(unusedText(isRejected).unknown(suggestion)),
    kind: 'UNKNOWN_FIELD',
    ...(suggestion !== undefined && { suggestion }),
  };
}
