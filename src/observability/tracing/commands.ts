/** A span for each command of the database, told by the driver itself: what was asked of what, no values. */
import {
  type Attributes,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import { mongo } from 'mongoose';
import { isRecorded } from './in-span';

/** Commands under way that are recorded; far more than connections. Beyond it they are not. */
const MAX_OPEN = 5_000;

/** @param client that was opened with `monitorCommands` */
export function watchCommands(tracer: Tracer, client: mongo.MongoClient): void {
  const open = new Map<number, Span>();
  client.on('commandStarted', (event) => {
    // The driver tells it where the command is given, so that this is whose command it is.
    const parent = context.active();
    if (!isRecorded(parent) || open.size >= MAX_OPEN) return;
    const attributes = attributesOf(event);
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

function attributesOf(event: mongo.CommandStartedEvent): Attributes {
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

/** Not the message: that of a duplicate key has the key. */
function failureOf(failure: Error): Attributes {
  const code = failure instanceof mongo.MongoError ? failure.code : undefined;
  return {
    'error.type': failure.name,
    ...(code !== undefined && { 'db.response.status_code': String(code) }),
  };
}
