/** Evaluates the part of PromQL that the alerts use, on two scrapes. Anything else throws. */
import { parser } from '@prometheus-io/lezer-promql';
import { type Sample, type SyntaxNode, selectorOf } from './prometheus';

export interface Scrapes {
  readonly before: readonly Sample[];
  readonly after: readonly Sample[];
  /** Seconds between the two: what happened in them is taken to go on alike. */
  readonly apart: number;
}

type Labels = Readonly<Record<string, string>>;
type Vector = readonly { readonly labels: Labels; readonly value: number }[];
type Value = Vector | number;

/** @returns what is left: an alert fires for each of it */
export function evaluate(expr: string, scrapes: Scrapes): Vector {
  const top = parser.parse(expr).topNode.firstChild;
  const value = top ? valueFor(top, expr, scrapes) : [];
  if (typeof value === 'number') throw new Error(`a number, not a vector: ${expr}`);
  return value;
}

function valueFor(node: SyntaxNode, expr: string, scrapes: Scrapes): Value {
  const textOf = (part: SyntaxNode | null) => (part ? expr.slice(part.from, part.to) : '');
  const of = (part: SyntaxNode | null) => {
    if (!part) throw new Error(`something is missing in ${textOf(node)}`);
    return valueFor(part, expr, scrapes);
  };
  const vectorOf = (part: SyntaxNode | null) => {
    const value = of(part);
    if (typeof value === 'number') throw new Error(`a number in place of ${textOf(part)}`);
    return value;
  };
  const args = node.getChild('FunctionCallBody');
  switch (node.name) {
    case 'NumberDurationLiteral':
      return Number(textOf(node));
    case 'VectorSelector':
      return matching(scrapes.after, node, expr);
    case 'AggregateExpr': {
      const by = node.getChild('AggregateModifier')?.getChild('GroupingLabels');
      const labels = (by?.getChildren('LabelName') ?? []).map(textOf);
      return aggregate(textOf(node.firstChild), labels, vectorOf(args?.firstChild ?? null));
    }
    case 'BinaryExpr':
      return combine(
        textOf(node.firstChild?.nextSibling ?? null),
        of(node.firstChild),
        of(node.lastChild),
      );
    case 'FunctionCall':
      break;
    default:
      throw new Error(`not known here: ${node.name} in ${expr}`);
  }
  const name = textOf(node.firstChild);
  const [first, last] = [args?.firstChild ?? null, args?.lastChild ?? null];
  if (name === 'absent') return vectorOf(first).length > 0 ? [] : [{ labels: {}, value: 1 }];
  if (name === 'histogram_quantile') return quantile(Number(of(first)), vectorOf(last));
  const perSecond = rate(first, expr, scrapes);
  if (name === 'rate') return perSecond;
  if (name !== 'increase') throw new Error(`not known here: ${name}`);
  const span = 60 * Number(textOf(first?.lastChild ?? null).replace(/m$/, ''));
  return perSecond.map(({ labels, value }) => ({ labels, value: value * span }));
}

function matching(samples: readonly Sample[], node: SyntaxNode, expr: string): Vector {
  const { name, matches } = selectorOf(expr, node);
  return samples.filter((sample) => sample.name === name && matches(sample.labels));
}

/** A series that was not there before has no rate yet. */
function rate(span: SyntaxNode | null, expr: string, { before, after, apart }: Scrapes): Vector {
  const selector = span?.getChild('VectorSelector');
  if (!selector) throw new Error(`a rate of no span: ${expr}`);
  const known = new Map(
    matching(before, selector, expr).map(({ labels, value }) => [JSON.stringify(labels), value]),
  );
  return matching(after, selector, expr).flatMap(({ labels, value }) => {
    const start = known.get(JSON.stringify(labels));
    return start === undefined ? [] : [{ labels, value: (value - start) / apart }];
  });
}

function aggregate(operator: string, by: readonly string[], vector: Vector): Vector {
  const groups = new Map<string, number[]>();
  for (const { labels, value } of vector) {
    const group = JSON.stringify(Object.fromEntries(by.map((label) => [label, labels[label]])));
    groups.set(group, [...(groups.get(group) ?? []), value]);
  }
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const folds = new Map([
    ['sum', sum],
    ['min', (values: readonly number[]) => Math.min(...values)],
    ['max', (values: readonly number[]) => Math.max(...values)],
  ]);
  const fold = folds.get(operator);
  if (!fold) throw new Error(`not known here: ${operator}`);
  return [...groups].map(([group, values]) => ({ labels: JSON.parse(group), value: fold(values) }));
}

function combine(operator: string, left: Value, right: Value): Value {
  if (typeof left === 'number') throw new Error('a number to the left');
  if (operator === 'or' && typeof right !== 'number') return [...left, ...right];
  if (operator === '/' && typeof right !== 'number') {
    // Of two sums without labels.
    const by = right[0]?.value;
    return by === undefined ? [] : left.map((one) => ({ ...one, value: one.value / by }));
  }
  if (typeof right !== 'number') throw new Error(`not known here: ${operator} between vectors`);
  return left.filter(({ value }) => compares(operator, value, right));
}

function compares(operator: string, value: number, limit: number): boolean {
  if (operator === '>') return value > limit;
  if (operator === '<') return value < limit;
  if (operator === '==') return value === limit;
  throw new Error(`not known here: ${operator}`);
}

/** The upper bound of the bucket: nearer than that no alert has to know. */
function quantile(part: number, buckets: Vector): Vector {
  const sorted = buckets
    .map(({ labels, value }) => ({ le: Number(labels.le?.replace('+Inf', 'Infinity')), value }))
    .sort((a, b) => a.le - b.le);
  const total = sorted.at(-1)?.value ?? 0;
  const found = sorted.find(({ value }) => total > 0 && value >= part * total);
  return found ? [{ labels: {}, value: found.le }] : [];
}
