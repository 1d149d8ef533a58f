/** The one page of the board: its template, filled in, and without what comes from elsewhere. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { BoardParts } from './parts';

const PLACE = /<%[-=] *(\w+) *%>/g;
/** Fonts of another host; the style sheet names others for where they are not there. */
const FROM_ELSEWHERE = /<link\b[^>]*\bhref="https?:[^>]*>/g;

/**
 * @param basePath where the board lies
 * @throws Error where the template asks for more than it is given
 */
export function renderPage(basePath: string, { entry, uiConfig, viewsPath }: BoardParts): string {
  const { name, params } = entry.handler({ basePath, uiConfig });
  const template = readFileSync(path.join(viewsPath, name), 'utf8');
  const page = template.replace(FROM_ELSEWHERE, '').replace(PLACE, (_place, key) => {
    const value = params[key];
    if (value === undefined) throw new Error(`the page of the queue board wants ${key}`);
    return value;
  });
  if (page.includes('<%')) throw new Error('the page of the queue board is no simple template');
  return page;
}
