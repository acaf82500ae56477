export interface Disk {
  /** Free for this user on the file system that holds the folder, or would hold it. */
  freeBytes(folder: string): Promise<number>;
}
