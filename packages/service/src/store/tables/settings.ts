/** Settings of the whole service. */
export interface SettingsTable {
  /** The names are in settings.ts. */
  name: string;
  value: string;
}
