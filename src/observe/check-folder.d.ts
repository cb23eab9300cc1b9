import { type Finding } from './finding.ts';
/** @param dataDir absolute; need not exist. Never throws for what it finds. */
export declare function checkFolder(dataDir: string): Promise<Finding[]>;
