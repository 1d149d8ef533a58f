#!/usr/bin/env node
/**
 * npm run openapi: writes docs/openapi.json as the service serves it, docs/schemas and the API collection. After a
 * build: all of them are made of what validates.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { publishedFiles } from '../dist/src/openapi/published.js';

for (const [path, text] of publishedFiles()) {
  const file = new URL(`../${path}`, import.meta.url);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`${path} is written\n`);
}
