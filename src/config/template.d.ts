/**
 * @param values what was chosen, by dotted path
 * @param schema where the JSON schema is, as editors find it from the file
 * @returns YAML that `--config` takes. Secrets themselves have no place in it, only their files
 */
export declare function settingsTemplate(values: ReadonlyMap<string, unknown>, schema: string): string;
