/** The folder of a chaos run goes with it, but for the logs of one that failed. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inFolder } from '../../../tools/harness/servers';

let said: string[];
beforeEach(() => {
  said = [];
});
afterEach(() => {
  for (const kept of keptLogs()) rmSync(dirname(kept), { recursive: true });
});
const keptLogs = () => said.flatMap((text) => /in (.*)$/.exec(text)?.[1] ?? []);
const options = { say: (text: string) => void said.push(text) };

function fill(folder: string): string {
  for (const name of ['logs', 'mongo']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'logs', 'web-0.log'), 'it broke');
  return folder;
}

test('after a good run nothing is left', async () => {
  const folder = await inFolder(options, async (made) => fill(made));
  expect(existsSync(folder)).toBe(false);
  expect(said).toEqual([]);
});

test('the logs, and only they, stay where a run asks for it', async () => {
  const folder = await inFolder(options, async (made, keepLogs) => {
    keepLogs();
    return fill(made);
  });
  expect(existsSync(folder)).toBe(false);
  const [logs = ''] = keptLogs();
  expect(readdirSync(logs)).toEqual(['web-0.log']);
  expect(readdirSync(dirname(logs))).toEqual(['logs']);
});

test('they stay where a run throws, unless it was given up', async () => {
  const failing = async (folder: string) => {
    fill(folder);
    throw new Error('redis does not come back');
  };
  await expect(inFolder(options, failing)).rejects.toThrow('redis does not come back');
  expect(keptLogs()).toHaveLength(1);
  const givenUp = { ...options, signal: AbortSignal.abort() };
  await expect(inFolder(givenUp, failing)).rejects.toThrow();
  expect(keptLogs()).toHaveLength(1);
});

test('what a run left that was killed is removed by the next one, what lives is left alone', async () => {
  // Above every number that a system gives to a process.
  const dead = mkdtempSync(join(tmpdir(), 'matter-push-chaos-999999999-'));
  await inFolder(options, async (folder) => {
    expect(existsSync(dead)).toBe(false);
    await inFolder(options, async () => expect(existsSync(folder)).toBe(true));
    expect(existsSync(folder)).toBe(true);
  });
});
