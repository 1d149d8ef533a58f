/** What others see without a running service: the reasons of errors, the settings, the help of matterctl. */

import { ALL_REASONS, PushError } from '../../../src/protocol/errors';
import { readConfig } from '../../../src/runtime/config';
import { matterctl } from '../../support/cli-tool';
import { expectGolden } from '../../support/golden';

test('the catalogue of reasons: code, whether trying again helps, both messages', () => {
  const reasons = ALL_REASONS.map((reason) => {
    const { code, retryable, text, retryAfter } = new PushError(reason);
    return [reason, { code, retryable, retryAfter: retryAfter ?? null, ...text }];
  });
  expectGolden('reasons.json', Object.fromEntries(reasons));
});

describe('settings', () => {
  const REQUIRED = {
    MONGO_URL: 'mongodb://localhost/golden?replicaSet=rs0',
    REDIS_URL: 'redis://localhost',
    SECRET_KEYS: `a:${'A'.repeat(43)}=`,
  };
  /** One of each form that a setting may have, and what lies just outside of the usual bounds. */
  const PROBES = [
    ...['-1', '0', '1', '2', '99', '100', '1000', '1024', '65535', '65536', '1048576', '1000001'],
    ...[
      '17179869185',
      '1.5',
      '10ms',
      '10s',
      '5m',
      '24h',
      '30d',
      '10y',
      'on',
      'off',
      'true',
      'info',
    ],
    ...['code', 'always-200', 'word', 'two words', 'DONE', 'DRAFT', 'DONE, CLOSED', ','],
    ...['UTC', '0.0.0.0', 'http://localhost:4318', 'redis://h', 'rediss://h', 'mongodb://h/d'],
    ...['traceidratio', REQUIRED.SECRET_KEYS, `${REQUIRED.SECRET_KEYS},${REQUIRED.SECRET_KEYS}`],
  ];

  /** The values that a setting takes, with what they become; and the others, by what it says to them. */
  function formsOf(name: string) {
    const takes: Record<string, unknown> = {};
    const refuses: Record<string, string[]> = {};
    for (const value of PROBES) {
      try {
        const config: Record<string, unknown> = { ...readConfig({ ...REQUIRED, [name]: value }) };
        takes[value] = config[name];
      } catch (error) {
        const [, ...problems] = (error as Error).message.split('\n');
        const text = problems.map((problem) => problem.trim()).join(' / ');
        refuses[text] = [...(refuses[text] ?? []), value];
      }
    }
    const lists = Object.entries(refuses).map(([text, values]) => [text, values.join(' | ')]);
    return { takes, refuses: Object.fromEntries(lists) };
  }

  test('their names and defaults, and what is required', () => {
    const defaults: Record<string, unknown> = { ...readConfig(REQUIRED) };
    for (const name of Object.keys(REQUIRED)) defaults[name] = '<required>';
    expectGolden('settings.json', defaults);
    expect(() => readConfig({})).toThrow(
      /MONGO_URL: is required\n {2}REDIS_URL: is required\n {2}SECRET_KEYS: is required$/,
    );
  });

  test('what each of them takes, and what it says to the rest', () => {
    const names = Object.keys(readConfig(REQUIRED)).sort();
    const forms = names.map((name) => [name, formsOf(name)]);
    expectGolden('settings-forms.json', Object.fromEntries(forms));
  });
});

test('the help of matterctl and of each of its commands', async () => {
  const sections: string[] = [];
  const help = async (...command: string[]): Promise<void> => {
    const { exitCode, stdout } = await matterctl([...command, '--help']);
    expect(exitCode).toBe(0);
    sections.push(`$ matterctl ${[...command, '--help'].join(' ')}`, stdout);
    for (const name of commandsIn(stdout)) await help(...command, name);
  };
  await help();
  expectGolden('matterctl-help.txt', sections);
});

/** The names in the list of commands of a help text. */
function commandsIn(text: string): string[] {
  const [, list = ''] = text.split('\nCommands:\n');
  const names = [...list.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => String(name));
  return names.filter((name) => name !== 'help');
}
