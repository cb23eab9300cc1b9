import type { Loaded } from './load.ts';
/**
 * @returns YAML that `--config` takes; secrets are comments that say whether they are set and from
 *   where, and proxies are shown without their credentials
 */
export declare function showSettings(loaded: Loaded): string;
