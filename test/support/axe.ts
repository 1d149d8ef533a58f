/** What axe finds in a page as it is shown. */
import { readFileSync } from 'node:fs';
import type { Page } from 'puppeteer-core';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** @returns a line for each rule that is broken, with the first element that breaks it */
export async function axeFindings(page: Page): Promise<string[]> {
  // Evaluated by the debugger: the policy of the page lets nothing else in.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  const found = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(
    ({ violations }) => violations.map(({ id, nodes }) =>
      [id, nodes.length, nodes[0].html, nodes[0].failureSummary].join(' ')))`);
  return found as string[];
}

/** By how many pixels the page is wider than what is seen of it. */
export const tooWide = (page: Page): Promise<unknown> =>
  page.evaluate('document.documentElement.scrollWidth - innerWidth');
