/** The files for Prometheus and Grafana: well formed, about metrics that there are, with a runbook. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRegistry } from '../../src/metrics/registry';
import {
  alerts,
  dashboard,
  dashboardExpressions,
  type Panel,
  samplesIn,
  selectorsIn,
} from '../support/prometheus';

const ROOT = join(__dirname, '../..');
const RUNBOOK = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
const DASHBOARD = dashboard();
const ALERTS = alerts();
const PANELS = DASHBOARD.panels.filter(({ type }) => type !== 'row');

/** Every name that a scrape can have: a histogram has three. */
async function names(): Promise<Set<string>> {
  const known = await createRegistry('web').registry.getMetricsAsJSON();
  const ends = (type: string) => (type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']);
  return new Set(known.flatMap(({ name, type }) => ends(String(type)).map((end) => name + end)));
}

const unknownIn = async (expr: string) => {
  const known = await names();
  return selectorsIn(expr)
    .map(({ name }) => name)
    .filter((name) => !known.has(name));
};

/** Every bracket that is opened is closed, and strings hold none. */
function isBalanced(expr: string): boolean {
  const open: string[] = [];
  const pairs: Record<string, string> = { ')': '(', ']': '[', '}': '{' };
  for (const character of expr.replace(/"[^"]*"/g, '')) {
    if ('([{'.includes(character)) open.push(character);
    else if (character in pairs && open.pop() !== pairs[character]) return false;
  }
  return open.length === 0;
}

describe('selectors', () => {
  test('are found in an expression, with their matchers', () => {
    const expr = 'sum by (le, stage) (rate(a_total{b="c",d=~"e|f"}[5m])) / max(g_seconds) > 2';
    const found = selectorsIn(expr);
    expect(found.map(({ text }) => text)).toEqual(['a_total{b="c",d=~"e|f"}', 'g_seconds']);
    expect(found[0]?.matches({ b: 'c', d: 'f' })).toBe(true);
    expect(found[0]?.matches({ b: 'c', d: 'ef' })).toBe(false);
    expect(found[0]?.matches({ d: 'f' })).toBe(false);
  });

  test('are found in every expression', () => {
    for (const expr of [...dashboardExpressions(), ...ALERTS.map(({ expr }) => expr)]) {
      expect([expr, selectorsIn(expr).length > 0]).toEqual([expr, true]);
    }
  });

  test('a name that no metric has is noticed', async () => {
    expect(await unknownIn('rate(matter_push_request_total[5m])')).toHaveLength(1);
  });
});

describe('the dashboard', () => {
  test('has an id of its own and lets its data source be chosen', () => {
    expect(DASHBOARD.uid).toMatch(/^[\w-]{1,40}$/);
    expect(DASHBOARD.title).not.toBe('');
    expect(DASHBOARD.schemaVersion).toBeGreaterThanOrEqual(36);
    const source = { name: 'datasource', type: 'datasource', query: 'prometheus' };
    expect(DASHBOARD.templating.list).toEqual([expect.objectContaining(source)]);
    const ids = DASHBOARD.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('no two panels lie over each other, and none beyond the edge', () => {
    const overlap = (a: Panel['gridPos'], b: Panel['gridPos']) =>
      a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
    DASHBOARD.panels.forEach(({ gridPos }, index) => {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      const others = DASHBOARD.panels.slice(index + 1);
      expect(others.filter((other) => overlap(gridPos, other.gridPos))).toEqual([]);
    });
  });

  test.each(PANELS)('$title asks for metrics that there are', async ({ targets, datasource }) => {
    expect(datasource).toEqual({ type: 'prometheus', uid: `\${datasource}` });
    expect(targets?.length).toBeGreaterThan(0);
    for (const target of targets ?? []) {
      expect(target.datasource).toEqual(datasource);
      expect(isBalanced(target.expr)).toBe(true);
      expect(await unknownIn(target.expr)).toEqual([]);
    }
  });

  test('shows every metric that the service itself has', async () => {
    const shown = new Set(
      dashboardExpressions().flatMap((expr) => selectorsIn(expr).map(({ name }) => name)),
    );
    const own = (await createRegistry('web').registry.getMetricsAsJSON())
      .map(({ name }) => name)
      .filter((name) => name.startsWith('matter_push_'));
    const ends = ['', '_bucket', '_sum', '_count'];
    expect(own.filter((name) => !ends.some((end) => shown.has(name + end)))).toEqual([]);
  });
});

describe('the alerts', () => {
  test('have names of their own', () => {
    expect(ALERTS.length).toBeGreaterThan(10);
    expect(new Set(ALERTS.map(({ alert }) => alert)).size).toBe(ALERTS.length);
  });

  test.each(ALERTS)('$alert is about metrics that there are', async ({ expr, ...alert }) => {
    expect(isBalanced(expr)).toBe(true);
    expect(await unknownIn(expr)).toEqual([]);
    expect(alert.for ?? '0s').toMatch(/^\d+[smh]$/);
    expect(['critical', 'warning', 'info']).toContain(alert.labels.severity);
  });

  test.each(ALERTS)('$alert says what it is and where to read on', ({ alert, annotations }) => {
    expect(Object.keys(annotations).sort()).toEqual(['description', 'runbook_url', 'summary']);
    const [paper = '', anchor] = annotations.runbook_url?.split('#') ?? [];
    expect(existsSync(join(ROOT, paper))).toBe(true);
    expect(anchor).toBe(alert.toLowerCase());
    expect(RUNBOOK).toContain(`\n### ${alert}\n`);
  });

  test('every link of the runbook leads somewhere', () => {
    const links = [...RUNBOOK.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(10);
    const slugs = (text: string) =>
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replace(/ /g, '-'),
      );
    const dead = links.filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = join(ROOT, 'docs', file || 'operations.md');
      if (!existsSync(target)) return true;
      return anchor !== undefined && !slugs(readFileSync(target, 'utf8')).includes(anchor);
    });
    expect(dead).toEqual([]);
  });

  test('the runbook has no alert that there is not', () => {
    const told = [...RUNBOOK.matchAll(/^### (MatterPush\w+)$/gm)].map(([, name]) => name);
    expect(told.sort()).toEqual(ALERTS.map(({ alert }) => alert).sort());
  });
});

test('a scrape can be read', async () => {
  const { registry, waiting } = createRegistry('worker');
  waiting.set({ lane: 3 }, 7);
  const samples = samplesIn(await registry.metrics());
  expect(samples).toContainEqual({
    name: 'matter_push_lane_waiting',
    labels: { lane: '3', process: 'worker' },
    value: 7,
  });
});
