/**
 * Finds a Python and a pip that can fetch wheels: the installed pip, otherwise the pip of a venv, otherwise that of
 * uv.
 */
import { join } from 'node:path';
import { runQuietly } from './progress.mjs';

const PROBE_MS = 60_000;

async function works(command, ...args) {
  return (await runQuietly(command, args, { timeoutMs: PROBE_MS })).ok;
}

/**
 * @param {string} scratch a folder of the caller that may hold a venv and is removed afterwards
 * @returns {Promise<{python: string[], pip: string[]} | undefined>} the commands, or undefined
 */
export async function findPip(scratch) {
  for (const python of ['python3', 'python']) {
    if (!(await works(python, '-c', 'import sys; sys.exit(sys.version_info < (3, 7))'))) continue;
    // This is cheaper than running pip, which loads all its modules.
    if (await works(python, '-c', 'import pip._internal')) {
      return { python: [python], pip: [python, '-m', 'pip'] };
    }
    const venv = join(scratch, 'venv');
    const inVenv = join(venv, 'bin/python');
    if (
      (await works(python, '-m', 'venv', venv)) &&
      (await works(inVenv, '-m', 'pip', '--version'))
    ) {
      return { python: [inVenv], pip: [inVenv, '-m', 'pip'] };
    }
  }
  if (await works('uv', '--version')) {
    return { python: ['uv', 'run', '--no-project', 'python'], pip: ['uv', 'tool', 'run', 'pip'] };
  }
  return undefined;
}
