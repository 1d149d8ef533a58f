#!/usr/bin/env node
/**
 * npm run lint:openapi: applies the recommended rules of a public linter to docs/openapi.json, or to the documents in
 * the arguments. It fetches nothing. The exit code is 1 for errors and for warnings.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { BaseResolver, createConfig, lintFromString } from '@redocly/openapi-core';

const given = process.argv.slice(2);
const files = given.length > 0 ? given : [new URL('../docs/openapi.json', import.meta.url)];
const NAME = 'openapi.json';

const config = await createConfig({
  extends: ['recommended'],
  rules: {
    // The service ignores unknown fields, so examples may have them. Without this option the rule would also forbid
    // further fields in the conditions of if and then. These name only some fields, so no example would match.
    // test/unit/openapi/bodies.test.ts finds misspelt fields in examples.
    'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
  },
});
// The responses to unknown paths and methods belong to no operation, and OpenAPI has no other place for them.
config.ignore[NAME] = {
  'no-unused-components': new Set([
    '#/components/responses/PathNotFound',
    '#/components/responses/MethodNotAllowed',
  ]),
};

/** The document must not refer to other documents. */
class Offline extends BaseResolver {
  async loadExternalRef(ref) {
    throw new Error(`${ref} is not in the document`);
  }
}

for (const file of files) {
  const problems = await lintFromString({
    source: readFileSync(file, 'utf8'),
    absoluteRef: NAME,
    config,
    externalRefResolver: new Offline(),
  });
  const which = files.length > 1 ? `${basename(file)}: ` : '';
  for (const { ignored, severity, ruleId, message, location } of problems) {
    if (ignored) continue;
    process.exitCode = 1;
    process.stdout.write(
      `${which}${severity} ${ruleId} ${location[0]?.pointer ?? ''}: ${message}\n`,
    );
  }
}
