#!/usr/bin/env node
/**
 * npm run lint:openapi: the recommended rules of a public linter, on docs/openapi.json or on the documents
 * that are named. Nothing is fetched. Exits 1 where there is anything to tell, warnings too.
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
    // Unknown fields are ignored, so that they are no mistake. Else the rule closes the conditions of
    // if and then as well, which name only some of the fields, and no example would meet them. That
    // examples have no misspelt fields is seen by test/unit/openapi/bodies.test.ts.
    'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
  },
});
// What any other path or method is answered with belongs to no operation, and OpenAPI has no other place.
config.ignore[NAME] = {
  'no-unused-components': new Set([
    '#/components/responses/PathNotFound',
    '#/components/responses/MethodNotAllowed',
  ]),
};

/** A document that is whole needs nothing from elsewhere. */
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
