/** Just enough of Prometheus for tests: what an expression asks for, what a scrape says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
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
    readonly legendFormat: string;
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

export type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];
type Matches = (labels: Readonly<Record<string, string>>) => boolean;

/** One metric of an expression with its matchers, as `name{label="value"}`. */
export interface Selector {
  readonly text: string;
  readonly name: string;
  readonly matches: Matches;
}

/** What stands in an expression, as Prometheus itself would read it. */
export interface Parsed {
  /** Where it cannot be read: the text from there on. */
  readonly problems: readonly string[];
  readonly selectors: readonly Selector[];
  /** Of matchers and groupings. */
  readonly labels: readonly string[];
  /** Those that the result has: what it is grouped by, or what `absent` matches. */
  readonly resultLabels: readonly string[];
}

/** @param expr may have Grafana's variable for a span of time */
export function parseExpression(expr: string): Parsed {
  const text = expr.replaceAll('$__rate_interval', '5m');
  const problems: string[] = [];
  const selectors: Selector[] = [];
  const labels: string[] = [];
  const resultLabels: string[] = [];
  parser.parse(text).iterate({
    enter: ({ name, type, from, to, node }) => {
      if (type.isError) problems.push(text.slice(from));
      if (name === 'VectorSelector') selectors.push(selectorOf(text, node));
      if (name !== 'LabelName') return;
      const label = text.slice(from, to);
      labels.push(label);
      const isGrouping = node.parent?.name === 'GroupingLabels';
      if (isGrouping || isWithin(node, 'Absent')) resultLabels.push(label);
    },
  });
  return { problems, selectors, labels, resultLabels };
}

export const selectorsIn = (expr: string): readonly Selector[] => parseExpression(expr).selectors;

/** Whether it is an argument of this function. */
function isWithin(node: SyntaxNode, called: string): boolean {
  for (let at: SyntaxNode | null = node; at; at = at.parent) {
    if (at.name === 'FunctionCall' && at.firstChild?.firstChild?.name === called) return true;
  }
  return false;
}

export function selectorOf(expr: string, node: SyntaxNode): Selector {
  const textOf = (part: SyntaxNode | null) => (part ? expr.slice(part.from, part.to) : '');
  const tests = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map(
    (one) => {
      const [label, operator, value] = [one.firstChild, one.getChild('MatchOp'), one.lastChild];
      return matcher(textOf(label), textOf(operator), textOf(value).slice(1, -1));
    },
  );
  return {
    text: textOf(node),
    name: textOf(node.getChild('Identifier')),
    matches: (labels) => tests.every((test) => test(labels)),
  };
}

function matcher(label: string, operator: string, value: string): Matches {
  const pattern = new RegExp(`^(?:${value})$`);
  const isRegular = operator.includes('~');
  const wanted = !operator.startsWith('!');
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
