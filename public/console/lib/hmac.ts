// The service serves the package's own file under this name.
export { hmac } from '@noble/hashes/hmac.js';
