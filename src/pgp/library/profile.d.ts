/**
 * Sets the profile on the library's one global configuration.
 * @throws Error when the library does not know a name, or does not hold what was set
 */
export declare function applyProfile(): void;
