/** Lines of a file that state fields of matters: checked, each matter once, bad ones named and left out. Pure. */
import { isExternalId } from '../../../../src/protocol/field-rules';
import { createReadRow } from '../../../../src/queries/reconcile/read-row';

/** @typedef {import('../../../../src/queries/reconcile/expected').ExpectedMatter} ExpectedMatter */
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
 * @property {number} serials times that were serial numbers of a spreadsheet
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
  serials = 0;

  /** @param {readonly Problem[]} problems of one line @param {unknown} id what stands in it as its id */
  leaveOut(problems, id) {
    this.problems.push(...problems.slice(0, MAX_PROBLEMS - this.problems.length));
    this.leftOut += 1;
    if (isExternalId(id)) this.ofBadLines.add(id);
    else this.unnamed += 1;
  }

  /** @param {number} withoutUpsert @returns {Source} */
  source(withoutUpsert = 0) {
    const { matters, ofBadLines, problems, leftOut, unnamed, withoutId, serials } = this;
    return {
      matters: [...matters.values()],
      ids: new Set([...matters.keys(), ...ofBadLines]),
      ...{ problems, leftOut, unnamed, withoutUpsert, withoutId, serials },
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
  const readRow = createReadRow(timeZone);
  const take = (/** @type {Fields} */ fields, /** @type {number} */ line) => {
    const { row, wrong, serials } = readRow(fields);
    gathered.serials += serials;
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
