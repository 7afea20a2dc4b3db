import type { RawBuilder } from 'kysely';

import type { Schema } from '../../schema.ts';

/** Creates a table with the SQL of its columns. */
export type CreateTable = (name: keyof Schema, columns: RawBuilder<unknown>) => Promise<void>;

/** The type of integers of 64 bits. */
export type Integer = RawBuilder<unknown>;
