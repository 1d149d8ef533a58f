/** For `node --require`: writes, as its process ends, which files it has loaded. */
const { writeFileSync } = require('node:fs');

process.on('exit', () => {
  const file = `${process.env.LOADED_MODULES}-${process.pid}.json`;
  writeFileSync(file, JSON.stringify(Object.keys(require.cache)));
});
