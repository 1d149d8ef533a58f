/** The option `--column`, which assigns a column of a file to a field. */
import { type Command, InvalidArgumentError } from 'commander';
import { type ColumnMapping, type ColumnNames, IGNORED } from '../../src/files/columns';

export interface ColumnOptions {
  readonly column?: readonly ColumnMapping[];
}

/** Adds the option to a command that reads a table. A user may repeat the option. */
export function withColumns(command: Command, names: ColumnNames): Command {
  const fields = [...Object.keys(names), IGNORED];
  const collect = (
    text: string,
    before: readonly ColumnMapping[] = [],
  ): readonly ColumnMapping[] => {
    const at = text.indexOf('=');
    const [field, name] = [text.slice(0, at), text.slice(at + 1).trim()];
    if (at > 0 && name !== '' && fields.includes(field)) return [...before, [field, name]];
    throw new InvalidArgumentError(
      `It must be field=name, where the field is one of ${fields.join(', ')}.`,
    );
  };
  return command.option(
    '--column <field=name>',
    `the column of a field, or ${IGNORED}=<name> for one that is not to be used (may be repeated)`,
    collect,
  );
}
