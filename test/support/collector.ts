/** A collector as the tests play it: takes OTLP as JSON over HTTP, and keeps the spans. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

type Value = { stringValue?: string; intValue?: number | string; doubleValue?: number };
type KeyValues = readonly { readonly key: string; readonly value: Value }[];

/** A span as it is sent: only what the tests look at. */
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes?: KeyValues;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
}

interface SentTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: KeyValues };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

export interface CollectedSpan {
  readonly service: unknown;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** As numbered by OTLP: 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly hasFailed: boolean;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that came, as it came. */
  text(): string;
  close(): Promise<void>;
}

/** @param isDeaf takes connections and requests, and never answers */
export async function startCollector({ isDeaf = false } = {}): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  // It closes no idle connection: services send every few seconds, and would lose spans on one that is being closed.
  const server = createServer({ keepAliveTimeout: 0 }, async (req, res) => {
    const text = await textOf(req);
    if (isDeaf) return;
    if (req.url !== '/v1/traces') {
      res.writeHead(404).end();
      return;
    }
    texts.push(text);
    spans.push(...spansOf(JSON.parse(text)));
    res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    text: () => texts.join('\n'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function spansOf({ resourceSpans }: SentTraces): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = toRecord(resource.attributes)['service.name'];
    return scopeSpans.flatMap(({ spans }) => spans).map((span) => toSpan(span, service));
  });
}

function toSpan(span: SentSpan, service: unknown): CollectedSpan {
  const { traceId, spanId, parentSpanId, name, kind, attributes, links, status } = span;
  return {
    service,
    traceId,
    spanId,
    parentSpanId,
    name,
    kind,
    attributes: toRecord(attributes ?? []),
    links: (links ?? []).map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
    hasFailed: status?.code === 2,
  };
}

const toRecord = (pairs: KeyValues) =>
  Object.fromEntries(
    pairs.map(({ key, value: { stringValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? doubleValue : Number(intValue)),
    ]),
  );
