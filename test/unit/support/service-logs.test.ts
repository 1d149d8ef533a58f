/** The error of a test that fails shows what its services logged meanwhile. */
import { runFiles } from '../../support/jest-files';

const LOGGING = `const { writeFileSync } = require('node:fs'); const { join } = require('node:path');
  const file = join(__dirname, 'web.log'); globalThis.serviceLogs.add(file).add('/not/there.log');
  const line = (level, at, msg) => JSON.stringify({ level, time: new Date(at).toISOString(), msg });
  writeFileSync(file, [line(40, 0, 'long ago'), line(30, Date.now(), 'as usual'), 'no JSON',
    line(50, Date.now() + 1_000, 'second'), line(40, Date.now(), 'first')].join('\\n'));`;

test('warnings and errors since the begin of the test are shown, and of a test that passes none', () => {
  const results = runFiles({ fails: `${LOGGING} expect(1).toBe(2);`, passes: LOGGING });
  const { status, message = '' } = results.get('fails') ?? {};
  expect(status).toBe('failed');
  expect(message).toMatch(/The services logged:\s+\{.*"first"\}\s+\{.*"second"\}/);
  expect(message.split('The services logged:')[1]).not.toMatch(/long ago|as usual/);
  expect(results.get('passes')).toMatchObject({ status: 'passed', message: '' });
});
