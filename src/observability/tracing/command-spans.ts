/** Creates the spans of database commands. A span must contain no data of a push. */
import {
  type Attributes,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import { mongo } from 'mongoose';
import { isSampled } from './span-relations';

/** Maximum open spans; further commands get no span. */
const MAX_OPEN_SPANS = 5_000;

/** @param client a client with the option `monitorCommands` */
export function traceCommands(tracer: Tracer, client: mongo.MongoClient): void {
  const open = new Map<number, Span>();
  client.on('commandStarted', (event) => {
    // This listener runs in the context of the code that sends the command.
    const parent = context.active();
    if (!isSampled(parent) || open.size >= MAX_OPEN_SPANS) return;
    const attributes = attributesOfCommand(event);
    const collection = attributes['db.collection.name'];
    const name = collection ? `${event.commandName} ${collection}` : event.commandName;
    const options = { kind: SpanKind.CLIENT, attributes };
    open.set(event.requestId, tracer.startSpan(name, options, parent));
  });
  const take = (requestId: number) => {
    const span = open.get(requestId);
    open.delete(requestId);
    return span;
  };
  client.on('commandSucceeded', ({ requestId }) => take(requestId)?.end());
  client.on('commandFailed', ({ requestId, failure }) => {
    const span = take(requestId);
    span?.setAttributes(failureOf(failure));
    span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
  });
}

function attributesOfCommand(event: mongo.CommandStartedEvent): Attributes {
  const { commandName, databaseName, address, command } = event;
  const target: unknown = command[commandName];
  return {
    'db.system.name': 'mongodb',
    'db.namespace': databaseName,
    'db.operation.name': commandName,
    'server.address': address,
    ...(typeof target === 'string' && { 'db.collection.name': target }),
  };
}

/** Omits the error message, because error messages can contain values of a push. */
function failureOf(failure: Error): Attributes {
  const code = failure instanceof mongo.MongoError ? failure.code : undefined;
  return {
    'error.type': failure.name,
    ...(code !== undefined && { 'db.response.status_code': String(code) }),
  };
}
