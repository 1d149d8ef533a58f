/** What the cells of a record say of the fields of a matter. Pure; served to the console too. */
import { ASSIGNEE, type Mapping } from './columns';
import type { CsvRecord } from './csv';

export type Fields = Readonly<Record<string, unknown>>;

/** Spreadsheets write TRUE and FALSE, people 是 and 否. */
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ...(['true', 'yes', 'y', '1', '是'] as const).map((it): [string, boolean] => [it, true]),
  ...(['false', 'no', 'n', '0', '否'] as const).map((it): [string, boolean] => [it, false]),
]);

/**
 * An empty cell states nothing. A cell that is not what its field needs stays as it is, so that it is reported as that.
 * An id is taken with the blanks around it: the ledger compares ids byte by byte.
 *
 * @returns undefined where there are more cells than columns
 */
export function fieldsOf({ cells, padded }: CsvRecord, mapping: Mapping): Fields | undefined {
  if (cells.slice(mapping.length).some((cell) => cell !== '')) return undefined;
  const named = mapping.flatMap((field, at): [string, unknown][] => {
    const cell = cells[at] ?? '';
    if (field === undefined || cell === '') return [];
    const isId = field === 'externalId';
    return [[field, isId ? (padded?.get(at) ?? cell) : cellValue(field, cell)]];
  });
  return Object.fromEntries(named);
}

function cellValue(field: string, cell: string): unknown {
  switch (field) {
    case 'deleted':
    case 'replaceParties':
      return FLAGS.get(cell.toLowerCase()) ?? cell;
    case 'parties':
      return jsonOf(cell) ?? cell;
    case ASSIGNEE:
      return namesIn(cell);
    default:
      return cell;
  }
}

/** A name may have a blank inside. */
const namesIn = (cell: string) => [
  ...new Set(
    cell
      .split(/[,;，；、|\n]/)
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
];

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports what the field needs.
    return undefined;
  }
}
