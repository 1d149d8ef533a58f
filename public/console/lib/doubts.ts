// The service serves its own module under this name.
export * from '../../../src/queries/reconcile/doubts';
