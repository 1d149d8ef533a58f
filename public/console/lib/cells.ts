// The service serves its own module under this name.
export * from '../../../src/files/cells';
