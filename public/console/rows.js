/** Lines of a file that state fields of matters: checked, each matter once, bad ones named and left out. Pure. */
import { isExternalId, isNothing, isStatus, isText } from './field-rules.js';
import { parseInstant } from './instants.js';
import { PUSHED_FIELDS } from './lib/expected.js';

/** @typedef {import('../../src/queries/reconcile/expected').ExpectedMatter} ExpectedMatter */
/** @typedef {import('../../src/queries/reconcile/expected').Row} Row */
/** @typedef {Readonly<Record<string, unknown>>} Fields */
/** @typedef {'missing' | 'invalid' | 'twice' | 'cells' | 'json' | 'rejected'} Wrong */
/** @typedef {{ readonly line: number, readonly wrong: Wrong, readonly about: string }} Problem `about`: a field, a line, an id, a message */

/**
 * What was read of a file, whatever its form.
 *
 * @typedef {object} Source
 * @property {readonly ExpectedMatter[]} matters each once
 * @property {ReadonlySet<string>} ids theirs and those of bad lines, as far as they can be read
 * @property {readonly Problem[]} problems the first of them
 * @property {number} leftOut bad lines
 * @property {number} unnamed those of them that name no matter
 * @property {number} withoutUpsert matters of which a file of pushes holds no upsert
 * @property {number} withoutId pushes whose id the service made
 */

/** Problems that are kept to be shown. */
const MAX_PROBLEMS = 200;

/** Gathers what the lines of a file say. */
export class Gathered {
  /** @type {Map<string, ExpectedMatter>} */
  matters = new Map();
  /** @type {Set<string>} */
  ofBadLines = new Set();
  /** @type {Problem[]} */
  problems = [];
  leftOut = 0;
  unnamed = 0;
  withoutId = 0;

  /** @param {readonly Problem[]} problems of one line @param {unknown} id what stands in it as its id */
  leaveOut(problems, id) {
    this.problems.push(...problems.slice(0, MAX_PROBLEMS - this.problems.length));
    this.leftOut += 1;
    if (isExternalId(id)) this.ofBadLines.add(id);
    else this.unnamed += 1;
  }

  /** @param {number} withoutUpsert @returns {Source} */
  source(withoutUpsert = 0) {
    const { matters, ofBadLines, problems, leftOut, unnamed, withoutId } = this;
    return {
      matters: [...matters.values()],
      ids: new Set([...matters.keys(), ...ofBadLines]),
      ...{ problems, leftOut, unnamed, withoutUpsert, withoutId },
    };
  }
}

/**
 * @param {string} timeZone of the portal
 * @returns a function that takes the fields of one line into what was gathered; an absent field states nothing
 */
export function createRowTaker(timeZone) {
  const gathered = new Gathered();
  /** @type {Map<string, number>} */
  const lines = new Map();
  const take = (/** @type {Fields} */ fields, /** @type {number} */ line) => {
    const { row, wrong } = readRow(fields, timeZone);
    if (!row) {
      const problems = wrong.map((about) => {
        const isMissing = fields[about] === undefined;
        return { line, about, wrong: /** @type {Wrong} */ (isMissing ? 'missing' : 'invalid') };
      });
      gathered.leaveOut(problems, fields.externalId);
      return;
    }
    const { externalId } = row.expected;
    const earlier = lines.get(externalId);
    if (earlier === undefined) {
      lines.set(externalId, line);
      gathered.matters.set(externalId, row);
    } else gathered.leaveOut([{ line, wrong: 'twice', about: String(earlier) }], externalId);
  };
  return { gathered, take };
}

/** @param {Fields} fields @param {string} timeZone @returns {{ row?: Row, wrong: string[] }} names of fields that are no good */
export function readRow(fields, timeZone) {
  const { externalId, bizStatus, externalStatusCode, sourceUpdatedAt, deleted } = fields;
  const at = isNothing(sourceUpdatedAt) ? undefined : parseInstant(sourceUpdatedAt, timeZone);
  const { parties, replaceParties } = fields;
  const isFlag = (/** @type {unknown} */ it) => isNothing(it) || typeof it === 'boolean';
  const good = {
    externalId: isExternalId(externalId),
    bizStatus: isNothing(bizStatus) || isStatus(bizStatus),
    externalStatusCode: isNothing(externalStatusCode) || isText(128)(externalStatusCode),
    sourceUpdatedAt: isNothing(sourceUpdatedAt) || at !== undefined,
    deleted: isFlag(deleted),
    parties: isNothing(parties) || Array.isArray(parties),
    replaceParties: isFlag(replaceParties),
  };
  const wrong = Object.entries(good).flatMap(([name, isGood]) => (isGood ? [] : [name]));
  if (wrong.length > 0) return { wrong };
  const stated = Object.entries(fields).filter(
    ([name, value]) => value !== undefined && PUSHED_FIELDS.has(name),
  );
  const expected = {
    externalId,
    ...(typeof bizStatus === 'string' && bizStatus !== '' && { bizStatus }),
    ...(externalStatusCode !== undefined && { externalStatusCode }),
    ...(at !== undefined && { sourceUpdatedAt: at }),
    ...(!isNothing(deleted) && { deleted }),
  };
  const pushed = Object.fromEntries(stated);
  return { row: /** @type {Row} */ ({ kind: 'row', expected, pushed }), wrong };
}

/**
 * The fields of a record of a CSV file. An empty cell states nothing; what is not what its field needs stays as it
 * is, so that it is told as that.
 *
 * @param {readonly string[]} cells
 * @param {import('./columns.js').Mapping} mapping
 * @returns {Fields | undefined} undefined: there are more cells than columns
 */
export function fieldsOf(cells, mapping) {
  if (cells.slice(mapping.length).some((cell) => cell !== '')) return undefined;
  const named = mapping.map((field, at) => [field, cellValue(field, cells[at] ?? '')]);
  return Object.fromEntries(
    named.filter(([field, value]) => field !== undefined && value !== undefined),
  );
}

/** @param {string | undefined} field @param {string} cell @returns {unknown} */
function cellValue(field, cell) {
  if (cell === '') return undefined;
  if (field === 'deleted' || field === 'replaceParties') {
    // Spreadsheets write TRUE and FALSE.
    return (
      new Map([
        ['true', true],
        ['false', false],
      ]).get(cell.toLowerCase()) ?? cell
    );
  }
  if (field !== 'parties') return cell;
  try {
    return JSON.parse(cell);
  } catch {
    // Told as a field that is no good.
    return cell;
  }
}
