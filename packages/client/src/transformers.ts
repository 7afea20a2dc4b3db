/** Instants as `Date`, by operation; an import of its own, so that only those who want them load them. */
export * from './generated/dates.gen.ts';
