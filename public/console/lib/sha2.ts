// The service serves the package's own file under this name.
export { sha256 } from '@noble/hashes/sha2.js';
