/** Scripts, styles, images and texts of the board, read once. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { etagOf } from '../../protocol/etag';

export interface BoardFile {
  readonly bytes: Buffer;
  /** With its dot. */
  readonly extension: string;
  readonly etag: string;
}

/** @returns by the path of the request, letter for letter: no request ever becomes the path of a file */
export function readBoardFiles(folder: string, route: string): ReadonlyMap<string, BoardFile> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((it) =>
    it.isFile(),
  );
  return new Map(
    files.map(({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      const bytes = readFileSync(file);
      const steps = path.relative(folder, file).split(path.sep);
      const found = { bytes, extension: path.extname(name), etag: etagOf(bytes) };
      return [[route, ...steps].join('/'), found];
    }),
  );
}
