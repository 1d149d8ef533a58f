#!/usr/bin/env node
/**
 * npm run openapi: writes docs/openapi.json as the service serves it, docs/schemas and the API collection. Needs a
 * build: it makes all of them from the schemas that validate requests.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { publishedFiles } from '../dist/src/openapi/published.js';

for (const [path, text] of publishedFiles()) {
  const file = new URL(`../${path}`, import.meta.url);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`${path} is written\n`);
}
