/** What is served unsigned: the OpenAPI document, the page that shows it, and the console. */
import path from 'node:path';
import type { AppOptions } from '../http/app';
import type { PageFiles } from '../http/page-files';
import { readConsoleFiles } from '../http/routes/console-files';
import { readDocsFiles } from '../http/routes/docs-files';
import { createDocument } from '../openapi/served';
import { type Config, demoClientFile } from '../runtime/config';

/** The folder of the project, seen from dist/src/web. */
const ROOT = path.join(__dirname, '../../..');

export function openDocs(config: Config): Pick<AppOptions, 'document' | 'docsFiles'> {
  return { document: createDocument(), docsFiles: filesOf(config) };
}

function filesOf(config: Config): PageFiles {
  const folder = path.join(ROOT, 'public/console');
  const consoleFiles = config.CONSOLE_PAGE === 'on' ? readConsoleFiles(folder) : [];
  return new Map([...docsFilesOf(config), ...consoleFiles]);
}

function docsFilesOf(config: Config): PageFiles {
  if (config.DOCS_PAGE === 'off') return new Map();
  return readDocsFiles(ROOT, config.DOCS_DEMO === 'on' ? demoOf(config) : undefined);
}

function demoOf(config: Config): Parameters<typeof readDocsFiles>[1] {
  const { HOST, PUBLIC_URL } = config;
  const publicName = PUBLIC_URL === '' ? [] : [new URL(PUBLIC_URL).hostname];
  return { file: demoClientFile(config), ownNames: [HOST, ...publicName] };
}
