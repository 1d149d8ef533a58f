/** The document as it is served. Made when somebody asks first: most processes are never asked. */
import { etagOf } from '../protocol/etag';
import { openApiText } from './document';

export interface ServedDocument {
  readonly bytes: Buffer;
  readonly type: string;
  readonly etag: string;
}

export function createDocument(): () => ServedDocument {
  let made: ServedDocument | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function make(): ServedDocument {
  const bytes = Buffer.from(openApiText());
  return { bytes, type: 'application/json; charset=utf-8', etag: etagOf(bytes) };
}
