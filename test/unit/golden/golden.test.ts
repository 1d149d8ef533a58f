/** What others see without a running service: the reasons of errors, and the help of matterctl. */
import { ALL_REASONS, PushError } from '../../../src/protocol/errors';
import { matterctl } from '../../support/cli-tool';
import { expectGolden } from '../../support/golden';

test('the catalogue of reasons: code, whether trying again helps, both messages', () => {
  const reasons = ALL_REASONS.map((reason) => {
    const { code, retryable, text, retryAfter } = new PushError(reason);
    return [reason, { code, retryable, retryAfter: retryAfter ?? null, ...text }];
  });
  expectGolden('reasons.json', Object.fromEntries(reasons));
});

test('the help of matterctl and of each of its commands explains every command and option', async () => {
  const explain = async (command: readonly string[]): Promise<number> => {
    const { exitCode, stdout } = await matterctl([...command, '--help']);
    expect([command, exitCode]).toEqual([command, 0]);
    const { usage, about, lists } = partsOf(stdout);
    expect(usage).toMatch(new RegExp(`^Usage: ${['matterctl', ...command].join(' ')}( |$)`));
    expect([command, about]).toEqual([command, expect.stringMatching(/\w/)]);
    const unexplained = lists.filter(({ text }) => text === '');
    expect([command, unexplained]).toEqual([command, []]);
    const isCommand = ({ list, name }: Listed) => list === 'Commands' && name !== 'help';
    const inner = lists.filter(isCommand).map(({ name }) => explain([...command, name]));
    return (await Promise.all(inner)).reduce((sum, count) => sum + count, 1);
  };
  expect(await explain([])).toBeGreaterThan(30);
});

interface Listed {
  readonly list: string;
  readonly name: string;
  readonly text: string;
}

/** A help text: its first line, what the command is for, and what its lists say of each of their names. */
function partsOf(help: string) {
  const [usage = '', about = '', ...paragraphs] = help.split('\n\n');
  const lists = paragraphs.flatMap((paragraph): Listed[] => {
    const [head = '', ...lines] = paragraph.split('\n');
    if (!/^(Arguments|Options|Commands):$/.test(head)) return [];
    // A text that does not fit goes on in the next line, behind more blanks.
    const items = lines.join('\n').split(/\n(?= {2}\S)/);
    return items.map((item) => {
      const [, name = '', text = ''] = /^ {2}(\S+.*?)(?: {2,}|\n\s+|$)([\s\S]*)$/.exec(item) ?? [];
      return { list: head.slice(0, -1), name: name.split(' ')[0] ?? '', text: text.trim() };
    });
  });
  return { usage, about, lists };
}
