/** The files for Prometheus and Grafana: well formed, about metrics that there are, with a runbook. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../../src/infra/config';
import { fileVariableOf, SECRET_SETTINGS } from '../../../src/infra/setting-files';
import { CHECKED } from '../../../src/infra/settings/tracing';
import { createRegistry } from '../../../src/observability/metrics/registry';
import { ALL_REASONS } from '../../../src/protocol/errors';
import { STUCK } from '../../../src/queue/inspect/stuck';
import {
  alerts,
  dashboard,
  dashboardExpressions,
  type Panel,
  parseExpression,
  samplesIn,
  selectorsIn,
} from '../../support/prometheus';
import { OPERATORS_PAGES, runbookMetrics, runbookNames } from '../../support/runbook';

const ROOT = join(__dirname, '../../..');
const RUNBOOK = OPERATORS_PAGES.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n');
/** Whatever has their form. */
const REQUIRED = {
  MONGO_URL: 'mongodb://host/db',
  REDIS_URL: 'redis://host',
  SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
};
const DASHBOARD = dashboard();
const ALERTS = alerts();
/** What may be anything: the library of the traces hears it. */
const HEARD_UNCHECKED = [
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_EXPORTER_OTLP_HEADERS',
];
/** Of docker-compose.monitoring.yml. */
const OF_COMPOSE = 'GRAFANA_PASSWORD';
/** How a legend and an alert name a label. */
const LEGEND = /\{\{\s*(\w+)\s*\}\}/g;
const LABEL = /\$labels\.(\w+)/g;
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

/** Labels that a scrape brings, and those of the metric itself; `le` where it has buckets. */
const SCRAPED = ['process', 'instance', 'job'];

async function labelsOf(name: string): Promise<string[]> {
  const { registry } = createRegistry('web');
  const metric = registry.getSingleMetric(name.replace(/_(?:bucket|sum|count)$/, ''));
  // Not in its type.
  const { labelNames = [] } = (metric ?? {}) as { labelNames?: string[] };
  return [...SCRAPED, ...labelNames, ...(name.endsWith('_bucket') ? ['le'] : [])];
}

/** What is wrong with an expression: its form, a metric or a label that there is not. */
async function wrongIn(expr: string): Promise<string[]> {
  const { problems, labels, selectors } = parseExpression(expr);
  const known = await Promise.all(selectors.map(({ name }) => labelsOf(name)));
  const strange = labels.filter((label) => !known.flat().includes(label));
  return [...problems, ...(await unknownIn(expr)), ...strange];
}

/** A text that names labels, of a legend or of an alert, and the expression that brings them. */
function nameless(text: string, expr: string, name: RegExp): string[] {
  const { resultLabels } = parseExpression(expr);
  const named = [...text.matchAll(name)].map(([, label = '']) => label);
  return named.filter((label) => !resultLabels.includes(label));
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

  test.each([
    ['a name that no metric has', 'rate(matter_push_request_total[5m])'],
    ['a label that no metric has', 'max by (partitions) (matter_push_queue_waiting)'],
    ['a label of another metric', 'matter_push_queue_waiting{stage="log"}'],
    ['brackets that do not fit', 'sum(rate(matter_push_sweeps_total[5m])'],
    ['a grouping without brackets', 'max by stage (matter_push_stage_seconds_count)'],
    ['half of a comparison', 'max(matter_push_workers) <'],
    ['a rate of no span', 'rate(matter_push_sweeps_total[])'],
  ])('%s is noticed', async (_what, expr) => {
    expect(await wrongIn(expr)).not.toEqual([]);
  });

  test('labels of the result are those that it is grouped by, or that absent asks for', () => {
    const expr = 'sum by (le) (a{b="c"}) / max by (d) (e) or absent(f{g="h"})';
    expect(parseExpression(expr).resultLabels).toEqual(['le', 'd', 'g']);
    expect(nameless('{{g}} {{b}}', expr, LEGEND)).toEqual(['b']);
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
      expect(await wrongIn(target.expr)).toEqual([]);
      expect(nameless(target.legendFormat, target.expr, LEGEND)).toEqual([]);
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
    expect(await wrongIn(expr)).toEqual([]);
    expect(alert.for ?? '0s').toMatch(/^\d+[smh]$/);
    expect(['critical', 'warning', 'info']).toContain(alert.labels.severity);
  });

  test.each(ALERTS)('$alert says what it is and where to read on', (told) => {
    const { alert, annotations, expr } = told;
    expect(nameless(Object.values(annotations).join(), expr, LABEL)).toEqual([]);
    expect(Object.keys(annotations).sort()).toEqual(['description', 'runbook_url', 'summary']);
    const [paper = '', anchor] = annotations.runbook_url?.split('#') ?? [];
    expect(existsSync(join(ROOT, paper))).toBe(true);
    expect(anchor).toBe(alert.toLowerCase());
    expect(readFileSync(join(ROOT, paper), 'utf8')).toContain(`\n### ${alert}\n`);
  });

  test('the runbook names only settings, reasons and metrics that there are', async () => {
    const settings = [...Object.keys(readConfig(REQUIRED)), ...SECRET_SETTINGS.map(fileVariableOf)];
    const traces = [...CHECKED, ...HEARD_UNCHECKED];
    const others = [...traces, ...Object.keys(STUCK), OF_COMPOSE];
    const known = new Set<string>([...settings, ...ALL_REASONS, ...others]);
    expect([...runbookNames()].filter((name) => !known.has(name))).toEqual([]);
    expect(runbookNames().size).toBeGreaterThan(20);
    const told = [...runbookMetrics()];
    const metrics = await names();
    expect(told.filter((name) => !metrics.has(name))).toEqual([]);
    expect(told.length).toBeGreaterThan(2);
  });

  test('the runbook tells of every metric that the service itself has', async () => {
    const own = (await createRegistry('web').registry.getMetricsAsJSON())
      .map(({ name }) => name)
      .filter((name) => name.startsWith('matter_push_'))
      .map((name) => name.slice('matter_push_'.length));
    expect(own.filter((name) => !RUNBOOK.includes(`\`${name}\``))).toEqual([]);
  });

  test('the runbook has no alert that there is not', () => {
    const told = [...RUNBOOK.matchAll(/^### (MatterPush\w+)$/gm)].map(([, name]) => name);
    expect(told.sort()).toEqual(ALERTS.map(({ alert }) => alert).sort());
  });
});

test('a scrape can be read', async () => {
  const { registry, waiting } = createRegistry('worker');
  waiting.set(7);
  const samples = samplesIn(await registry.metrics());
  expect(samples).toContainEqual({
    name: 'matter_push_queue_waiting',
    labels: { process: 'worker' },
    value: 7,
  });
});
