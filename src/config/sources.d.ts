/** Everything outside that decides how Postern runs, as values. */
export interface Sources {
    /** Flags by name without dashes, as given on the command line. */
    flags: Readonly<Record<string, string>>;
    env: Readonly<Record<string, string>>;
    /** What `--config` named, or null. */
    configFlag: string | null;
    cwd: string;
    home: string;
    /** XDG_RUNTIME_DIR: a folder for sockets, said to be this user's alone; null when there is none. */
    runtimeDir: string | null;
    /** Whether fd 2 is a terminal. */
    terminal: boolean;
    /** Options that Node itself was started with, those of NODE_OPTIONS included. */
    nodeOptions: readonly string[];
    inspectorOpen: boolean;
    /** Whether an OS keychain might answer. False where there certainly is none. */
    mayHaveKeychain: boolean;
}
/**
 * Reads the process. Secrets are taken out of its environment, so that nothing that is started or
 * reported later holds them; a second call does not find them again.
 * @param flags by name without dashes; those that are no settings are ignored
 */
export declare function processSources(flags: Readonly<Record<string, unknown>>): Sources;
