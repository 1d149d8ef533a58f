/** What every line of the log has: the name of its process, and numbers that can be read. */
import { hostname } from 'node:os';
import { createLogger, processName } from '../../../src/infra/logger';

function lineOf(fields: object): Record<string, unknown> {
  const lines: string[] = [];
  const to = { write: (line: string) => void lines.push(line) };
  createLogger('web', 'info', { to }).info(fields, 'something');
  return JSON.parse(String(lines[0]));
}

test('a line names its process, and shows numbers with three decimals at most', () => {
  const fields = {
    ms: 12.345678901234,
    count: 3,
    text: '1.23456789',
    share: 0.1,
    nested: { n: 1 },
  };
  expect(lineOf(fields)).toMatchObject({
    ...{ process: 'web', name: processName('web'), pid: process.pid, msg: 'something' },
    ...{ ms: 12.346, count: 3, text: '1.23456789', share: 0.1, nested: { n: 1 } },
  });
});

test('a name has type, host and pid, and nothing that a table or a search would stumble over', () => {
  expect(processName('worker', 'app1.example', 12)).toBe('worker-app1.example-12');
  expect(processName('web', 'büro 7', 1)).toBe('web-b_ro_7-1');
  expect(processName('web', 'h'.repeat(100), 1)).toHaveLength('web--1'.length + 48);
  expect(processName('web')).toBe(`web-${hostname()}-${process.pid}`);
});

test('what a caller sent gives no orders to the terminal in which the log is read', () => {
  const path = '/\u001b[2J\u009b31m\u2028\u202e\u061c\u200b事项 \u{1f680}';
  const lines: string[] = [];
  const to = { write: (line: string) => void lines.push(line) };
  createLogger('web', 'info', { to }).info({ path }, 'rejected');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*\n$/u);
  expect(JSON.parse(String(lines[0])).path).toBe(path);
});
