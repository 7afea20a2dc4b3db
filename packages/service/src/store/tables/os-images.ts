/** Operating systems that a VM can have. */
export interface OsImagesTable {
  name: string;
  displayname: string;
  /** The initial login user. */
  username: string;
}
