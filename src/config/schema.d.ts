/**
 * @returns JSON Schema (draft 2020-12) as text; config/postern.schema.json holds the same
 */
export declare function settingsSchema(): string;
