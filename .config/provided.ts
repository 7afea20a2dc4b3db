declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection string of a PostgreSQL server on which tests may create databases. */
    postgresUrl: string;
    /** File to which `operationId status`, with `operator ` before it for the operator's document, is appended for each answer of the service that was judged by the document. */
    seenStatuses: string;
  }
}

/** What the set-up of a run gives to its tests; the type of `inject`. */
export type { ProvidedContext } from 'vitest';
