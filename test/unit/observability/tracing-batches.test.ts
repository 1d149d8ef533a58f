/** One piece of work for many requests: whose trace has it, and how the others find it. */
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { createBatcher } from '../../../src/concurrency/batcher';
import { createTracing } from '../../../src/observability/tracing/spans';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
const tracing = createTracing(provider.getTracer('test'));
beforeEach(() => exporter.reset());
afterAll(() => provider.shutdown());

const RECORDED = '01';
const LEFT_OUT = '00';
const traceOf = (digit: string) => digit.repeat(32);
/** Does it in a request of a caller's trace. */
const within = <T>(digit: string, flags: string, work: () => Promise<T>): Promise<T> => {
  const traceparent = `00-${traceOf(digit)}-${'1'.repeat(16)}-${flags}`;
  return tracing.request('POST', '/somewhere', { traceparent }).run(work);
};
const batches = () =>
  exporter
    .getFinishedSpans()
    .map((span) => [
      span.spanContext().traceId[0],
      span.links.map(({ context }) => context.traceId[0]),
    ]);

function counted(run: () => Promise<void> = async () => undefined) {
  return createBatcher<string, string>({
    run: async (items) => {
      await run();
      return items;
    },
    maxBatch: 100,
    maxRunning: 1,
    tracing,
    name: 'batch',
  });
}

test('a batch is in the first trace that is recorded, and linked to the other ones', async () => {
  const batcher = counted();
  await Promise.all([
    within('a', LEFT_OUT, () => batcher.add('one')),
    within('b', RECORDED, () => batcher.add('two')),
    within('c', RECORDED, () => batcher.add('three')),
  ]);
  expect(batches()).toEqual([['b', ['c']]]);
});

test('what comes while another batch is at work is not in its trace', async () => {
  const seen: object[] = [];
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const batcher = counted(async () => {
    seen.push(tracing.logFields());
    await held;
  });
  const first = within('a', RECORDED, () => batcher.add('one'));
  // Out with the next tick; the second one then waits for its end, and is sent off by it.
  await new Promise((resolve) => setImmediate(resolve));
  const second = within('b', RECORDED, () => batcher.add('two'));
  goOn();
  await Promise.all([first, second]);
  expect(seen).toEqual([{ traceId: traceOf('a') }, { traceId: traceOf('b') }]);
  expect(batches()).toEqual([
    ['a', []],
    ['b', []],
  ]);
});

test('where no trace is recorded there is no span, and where there is none no trace begins', async () => {
  const batcher = counted();
  await within('a', LEFT_OUT, () => batcher.add('one'));
  await batcher.add('two');
  expect(batches()).toEqual([]);
});

test('a failure is told by its class, not by its words', async () => {
  const batcher = counted(() => Promise.reject(new TypeError('dup key: { title: "private" }')));
  await expect(within('a', RECORDED, () => batcher.add('one'))).rejects.toThrow('private');
  const [span] = exporter.getFinishedSpans();
  expect(span?.attributes).toMatchObject({ 'error.type': 'TypeError' });
  expect(JSON.stringify([span?.attributes, span?.events, span?.status])).not.toContain('private');
});
