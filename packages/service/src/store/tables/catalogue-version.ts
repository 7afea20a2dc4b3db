/** One row, which triggers replace when the catalogue changes. */
export interface CatalogueVersionTable {
  id: number;
  /** Random. */
  version: string;
}
