/** Where bytes rest on a disk while they are needed; nobody else reads or writes them. */
export interface RawFile {
  /** How many bytes were appended so far. */
  readonly bytes: number
  /**
   * Appends; the place in the file is taken at once, so that appends may overlap.
   * @param bytes not to be changed before it resolves
   * @throws Refusal when the disk is full
   */
  append(bytes: Uint8Array): Promise<void>
  /** Bytes from a place on; fewer only at the end. */
  read(at: number, bytes: number): Promise<Buffer>
  /** Gives the room back. It may be called more than once. */
  close(): Promise<void>
}

/** Makes such files. */
export interface Room {
  /** @throws Refusal when there is no room for another */
  file(): Promise<RawFile>
}
