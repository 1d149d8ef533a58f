// The service serves the package's own file under this name.
export { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
