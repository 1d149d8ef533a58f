/**
 * The OpenAPI document as bytes. The first request creates the bytes, because most processes never serve the
 * document.
 */
import { etagOf } from '../protocol/headers';
import { openApiDocument } from './document';

export interface ServedDocument {
  readonly bytes: Buffer;
  readonly type: string;
  readonly etag: string;
}

export function createDocument(): () => ServedDocument {
  let document: ServedDocument | undefined;
  return () => {
    document ??= create();
    return document;
  };
}

function create(): ServedDocument {
  // Without the line breaks and spaces of docs/openapi.json, the document has a third fewer bytes.
  const bytes = Buffer.from(JSON.stringify(openApiDocument()));
  return { bytes, type: 'application/json; charset=utf-8', etag: etagOf(bytes) };
}
