/** Just enough of Prometheus for tests: what an expression asks for, what a scrape says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(__dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; y: number };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly datasource: { readonly type: string; readonly uid: string };
  }[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly Readonly<Record<string, unknown>>[] };
  readonly panels: readonly Panel[];
}

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const dashboard = (): Dashboard => JSON.parse(read('ops/grafana/matter-push.json'));

export function alerts(): Alert[] {
  const { groups } = parse(read('ops/alerts/matter-push.yml')) as {
    groups: { name: string; rules: Alert[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}

export const dashboardExpressions = (): string[] =>
  dashboard().panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

type Matches = (labels: Readonly<Record<string, string>>) => boolean;

/** One metric of an expression with its matchers, as `name{label="value"}`. */
export interface Selector {
  readonly text: string;
  readonly name: string;
  readonly matches: Matches;
}

/** Metrics have an underscore and no parenthesis behind them; functions and labels are not that. */
const SELECTOR = /(?<![\w{"$])([a-z]+(?:_[a-z0-9]+)+)\b(?!\s*\()(\{[^}]*\})?/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;

/** What an expression reads. Labels of `by (…)` have no underscore here. */
export function selectorsIn(expr: string): Selector[] {
  return [...expr.matchAll(SELECTOR)].map(([, name = '', matchers = '']) => {
    const tests = [...matchers.matchAll(MATCHER)].map(([, label = '', operator, value = '']) =>
      matcher(label, operator, value),
    );
    return {
      text: name + matchers,
      name,
      matches: (labels) => tests.every((test) => test(labels)),
    };
  });
}

function matcher(label: string, operator: string | undefined, value: string): Matches {
  const pattern = new RegExp(`^(?:${value})$`);
  const isRegular = operator?.includes('~');
  const wanted = operator?.startsWith('!') === false;
  return (labels) => {
    const found = labels[label] ?? '';
    return (isRegular ? pattern.test(found) : found === value) === wanted;
  };
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples of a scrape. */
export function samplesIn(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, label, text]) => [label, text])),
        value: Number(value),
      };
    });
}
