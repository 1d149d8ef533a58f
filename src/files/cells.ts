/**
 * Converts the cells of a CSV record to fields of `MATTER_COLUMNS`. Uses no Node API, because the page /console
 * imports this file.
 */
import { ASSIGNEE, type Mapping } from './columns';
import type { CsvRecord } from './csv';

export type Fields = Readonly<Record<string, unknown>>;

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ...(['true', 'yes', 'y', '1', '是'] as const).map((it): [string, boolean] => [it, true]),
  ...(['false', 'no', 'n', '0', '否'] as const).map((it): [string, boolean] => [it, false]),
]);

/**
 * Invalid cells stay unchanged.
 *
 * @returns undefined if a cell beyond the last column is not empty
 */
export function fieldsOf({ cells, untrimmed }: CsvRecord, mapping: Mapping): Fields | undefined {
  if (cells.slice(mapping.length).some((cell) => cell !== '')) return undefined;
  const named = mapping.flatMap((field, at): [string, unknown][] => {
    const cell = cells[at] ?? '';
    if (field === undefined || cell === '') return [];
    const isId = field === 'externalId';
    return [[field, isId ? (untrimmed?.get(at) ?? cell) : cellValue(field, cell)]];
  });
  return Object.fromEntries(named);
}

function cellValue(field: string, cell: string): unknown {
  switch (field) {
    case 'deleted':
    case 'replaceParties':
      return FLAGS.get(cell.toLowerCase()) ?? cell;
    case 'parties':
    case 'removeParties':
      return jsonOf(cell) ?? cell;
    case ASSIGNEE:
      return namesIn(cell);
    default:
      return cell;
  }
}

/** Blanks do not separate usernames, because a username may contain a blank. */
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
    return undefined;
  }
}
