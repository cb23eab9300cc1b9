/**
 * Makes the directory when it is not there (mode 0700; missing parents by the umask), and sees
 * that it is ours alone.
 * @throws OperatorError `data-dir`: not a directory, another user's, or open to others and
 *   impossible to mend; `store-unwritable`: it cannot be made
 */
export declare function makeDataDir(dataDir: string): void;
/**
 * Sees that an existing directory is ours alone, and takes others' rights away where it can.
 * Gives false when it is not there.
 * @throws OperatorError `data-dir`, as `makeDataDir` does
 */
export declare function checkDataDir(dataDir: string): boolean;
/**
 * Sees that a file of the store is a plain file and ours alone; mends its mode where it can.
 * @throws OperatorError `data-dir`
 */
export declare function checkFile(file: string): void;
