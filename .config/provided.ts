declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection string of a PostgreSQL server on which tests may create databases. */
    postgresUrl: string;
    /** Database that the first test to need it fills as a sandbox is, for others to copy. It is dropped after the run. */
    preparedDatabase: string;
    /** Folder that all test processes of a run share, and that is removed after it. */
    runFolder: string;
    /** File to which `operationId status`, with `operator ` before it for the operator's document, is appended for each answer of the service that was judged by the document. */
    seenStatuses: string;
  }
}

/** What the set-up of a run gives to its tests; the type of `inject`. */
export type { ProvidedContext } from 'vitest';
