/** Changes of a parsed body: which places they reach, and that no other place changes. */
import { BodyChange, changedBody } from '../../../src/pushes/body-changes';

const MAX = 10_000;
const change = (
  body: object,
  changes: readonly (readonly [place: string, change: BodyChange])[],
) => {
  const placed = changes.map(([place, change]) => ({ place, change }));
  return JSON.parse(String(changedBody(body as Record<string, unknown>, placed, MAX)));
};
const to = (value: unknown) => new BodyChange({ field: 'f', value });
const removal = new BodyChange({ field: 'f', remove: true });

test('fields and elements are set and removed', () => {
  const body = { a: 1, b: [{ c: 2 }, 3, { c: 4 }], d: 5 };
  const changes = [
    ['a', to('é')],
    ['b[0].c', to({ deep: [null] })],
    ['b[1]', to(6)],
    ['b[2].c', removal],
    ['d', removal],
    ['e', to(null)],
  ] as const;
  expect(change(body, changes)).toEqual({
    ...{ a: 'é', b: [{ c: { deep: [null] } }, 6, {}], e: null },
  });
});

test('elements are removed once each, in whatever order and however often they are named', () => {
  const list = ['x', 'a', 'x', 'x', 'b', 'x'];
  const places = ['l[3]', 'l[0]', 'l[5]', 'l[3]', 'l[2]', 'l[99]'];
  const changes = places.map((place) => [place, removal] as const);
  expect(change({ l: list }, changes)).toEqual({ l: ['a', 'b'] });
});

test('a value that many places share is changed at none of them', () => {
  const value = { c: 'shared' };
  const changes = [
    ['a[0]', to(value)],
    ['a[0].c', to('own')],
    ['a[0].value', to('own')],
    ['a[1]', to(value)],
  ] as const;
  expect(change({ a: [1, 2] }, changes)).toEqual({ a: [value, value] });
  expect(value).toEqual({ c: 'shared' });
});

test.each([
  '__proto__.polluted',
  'constructor.prototype.polluted',
  'a.__proto__.polluted',
  'l[4000000000]',
  'l[3]',
  'l.length',
  'l.polluted',
  'text.polluted',
  'missing.polluted',
  'a[0]',
  '',
])('a place that the body does not have is ignored: %j', (place) => {
  const body = { a: { b: 1 }, l: [1, 2, 3], text: 'x' };
  for (const one of [to(7), removal]) {
    const before = structuredClone(body);
    expect(change(body, [[place, one]])).toEqual(before);
  }
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test('an infinite number stays invalid, and is not an absent field', () => {
  const body = JSON.parse('{"a":1e999,"b":{"c":-1e999},"d":1}');
  expect(change(body, [['d', to(Number.POSITIVE_INFINITY)]])).toEqual({
    ...{ a: 'Infinity', b: { c: '-Infinity' }, d: 'Infinity' },
  });
});

test('the size is that of the body with its values, to the byte', () => {
  const text = '"\\\ud800 é 😀\n';
  const changes = ['a', 'b', 'l[0]'].map((place) => ({ place, change: to({ text }) }));
  const make = (max: number) => changedBody({ a: 1, l: [1], other: text }, changes, max);
  const { length } = make(MAX);
  expect(make(length)).toHaveLength(length);
  expect(() => make(length - 1)).toThrow(expect.objectContaining({ reason: 'BODY_TOO_LARGE' }));
});
