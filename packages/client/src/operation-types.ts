/** The types of what `reconcile` finds out, from the results of the operations that must not take effect twice. */
import type * as addedTable from './generated/extension/operation-table.gen.ts';
import type * as addedFunctions from './generated/extension/sdk.gen.ts';
import type * as table from './generated/operation-table.gen.ts';
import type * as functions from './generated/sdk.gen.ts';
import type { ReconciliationOf } from './reconcile.ts';

type ResultsOf<Table, Functions> = {
  readonly [Id in OnceIn<Table[keyof Table]> & keyof Functions]: Functions[Id] extends (...input: never[]) => infer Call
    ? Awaited<Call>
    : never;
};

type OnceIn<Facts> = Exclude<Facts, { readonly repeatable: true }> extends { readonly id: infer Id } ? Id : never;

type Results = ResultsOf<typeof table, typeof functions>;
type AddedResults = ResultsOf<typeof addedTable, typeof addedFunctions>;

/** What happened to a request. `operation` says which type `data` has. */
export type Reconciliation = ReconciliationOf<Results>;

/** The same, with the operations of the extension. */
export type ExtendedReconciliation = ReconciliationOf<Omit<Results, keyof AddedResults> & AddedResults>;
