/** The version of Postern, as package.json has it. */
export declare const VERSION: string;
