#!/usr/bin/env node
/**
 * npm run openapi: writes docs/openapi.json as the service serves it. After a build: the document is
 * made of what validates.
 */
import { writeFileSync } from 'node:fs';
import { openApiText } from '../dist/src/openapi/document.js';

const path = 'docs/openapi.json';
writeFileSync(new URL(`../${path}`, import.meta.url), openApiText());
process.stdout.write(`${path} is written\n`);
