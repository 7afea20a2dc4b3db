declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection string of a PostgreSQL server on which tests may create databases. The inner ring has none. */
    postgresUrl: string | undefined;
    /** Database that the first test fills as a small sandbox, for other tests to copy. It is dropped after the run. */
    preparedDatabase: string;
    /** The same with the resources of the demo account. */
    demoDatabase: string;
    /** Database that the first test fills as a sandbox with all addresses, for the servers of other tests. It is dropped after the run. */
    sandboxDatabase: string;
    /** Folder that all test processes of a run share. It is removed after the run. */
    runFolder: string;
    /** The temporary folder of the machine, for large files. The one of the tests may be in memory. */
    diskFolder: string;
    /** File to which tests append `operationId status`, prefixed with `operator ` for the operator API, for each response that they checked against the document. */
    seenStatuses: string;
  }
}

/** Values that the set-up of a run provides to its tests; the type of `inject`. */
export type { ProvidedContext } from 'vitest';
