/** The fields of one line, checked, as a row: what is compared and what a re-push may send. */
import { z } from 'zod';
import * as rules from '../../../src/protocol/fields';
import { PUSHED_FIELDS, type Row } from './expected-matter';

/** What is said of a field that the contract's rule rejects: its own words are for callers. */
const EXPECTED: Readonly<Record<string, string>> = {
  externalId: 'must be a text of 1 to 128 characters on one line',
  bizStatus: 'must be upper snake case such as IN_REVIEW, at most 64 characters',
  externalStatusCode: 'must be a text of at most 128 characters',
  sourceUpdatedAt: 'is no time such as 2024-06-01 08:00:00 or 1717200000',
  deleted: 'must be true or false',
  parties: 'must be a JSON list',
  replaceParties: 'must be true or false',
};

export interface ParsedRow {
  readonly row?: Row;
  /** Without a row: everything that is wrong with the line. */
  readonly problems: readonly string[];
  /** Fields of which nobody knows what they mean. */
  readonly unknown: readonly string[];
}

/** @param timeZone in which local date-times are read */
export function createRowParser(timeZone: string): (fields: Record<string, unknown>) => ParsedRow {
  const schema = z.object({
    externalId: rules.externalId,
    bizStatus: rules.nullIsAbsent(rules.bizStatus),
    externalStatusCode: rules.text(128).nullish(),
    sourceUpdatedAt: rules.nullIsAbsent(rules.anyInstant(timeZone)),
    deleted: rules.nullIsAbsent(z.boolean()),
    parties: z.array(z.unknown()).nullish(),
    replaceParties: z.boolean().nullish(),
  });
  const isKnown = (name: string) => name in schema.shape || PUSHED_FIELDS.has(name);
  return (fields) => {
    const unknown = Object.keys(fields).filter((name) => !isKnown(name));
    const parsed = schema.safeParse(fields);
    if (!parsed.success) {
      const bad = new Set(parsed.error.issues.map(({ path }) => String(path[0])));
      return { problems: [...bad].map((name) => tell(name, fields[name])), unknown };
    }
    const { parties: _p, replaceParties: _r, ...expected } = parsed.data;
    const stated = Object.entries(fields).filter(
      ([name, value]) => value !== undefined && PUSHED_FIELDS.has(name),
    );
    return {
      row: { kind: 'row', expected, pushed: Object.fromEntries(stated) },
      problems: [],
      unknown,
    };
  };
}

const tell = (name: string, value: unknown) =>
  value === undefined ? `${name} is missing` : `${name} ${EXPECTED[name] ?? 'is not valid'}`;
