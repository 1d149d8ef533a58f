/** What the operators' pages name: commands, settings and reasons. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const OPERATORS_PAGES = [
  'operations',
  'installation',
  'settings',
  'monitoring',
  'alerts',
  'runbook',
].map((name) => `docs/${name}.md`);
const TEXT = OPERATORS_PAGES.map((page) =>
  readFileSync(join(__dirname, '../..', page), 'utf8'),
).join('\n');
/** What is code there: in a line, which may be broken, and in blocks. */
const CODE = [...TEXT.matchAll(/```\w*\n([\s\S]*?)```|`([^`]+)`/g)].flatMap(
  ([, block, inline = '']) => block?.split('\n') ?? [inline.replace(/\s+/g, ' ')],
);

/** Every command line of matterctl, once, as its arguments. */
export function runbookCommands(): string[][] {
  const lines = CODE.filter((code) => /^matterctl \w/.test(code));
  return [...new Set(lines)].map((line) => line.split(' ').slice(1));
}

/** Every name in capitals that is code there: settings, reasons, and names of formats. */
export function runbookNames(): Set<string> {
  const names = CODE.flatMap((code) => code.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? []);
  return new Set(names);
}

/** Every metric of the service that is named there, as it is in a scrape. */
export function runbookMetrics(): Set<string> {
  return new Set(CODE.flatMap((code) => code.match(/\bmatter_push_\w+/g) ?? []));
}
