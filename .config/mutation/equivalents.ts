/** Changes that no test can notice, because the changed program does the same. */
export interface Equivalent {
  readonly file: string;
  /** The source that is changed. */
  readonly original: string;
  /** The source in its place. */
  readonly replacement: string;
  /** Why both do the same. */
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [];
