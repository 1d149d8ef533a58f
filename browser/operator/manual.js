/** The address of a section of the runbook on the internal port. Pure. */

/**
 * Relative, because the page works under a path prefix.
 *
 * @param {string} runbook section of a page of `docs`, such as `docs/alerts.md#matterpushslow`
 */
export const manualOf = (runbook) => runbook.replace(/^docs\/(\w+)\.md/, 'manual/$1.html');
