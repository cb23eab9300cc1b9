/**
 * Settings as the rest of Postern sees them, and the flat table of all there are. Settings and
 * secrets are different types: settings may be printed, secrets have no way to be.
 */
import type { z } from 'zod';
import { Options } from './options.ts';
import type { About } from './options.ts';
import type { SecretSource } from './secrets.ts';
type Options_ = z.output<typeof Options>;
/** Egress proxies, from HTTPS_PROXY, HTTP_PROXY and NO_PROXY or their lower-case forms. */
export interface ProxySettings {
    httpsProxy?: string;
    httpProxy?: string;
    /** Comma separated hosts, as the variable has them. */
    noProxy?: string;
}
/** All settings, defaults filled in, paths absolute, `upstream.url` without a trailing slash. */
export interface Settings extends Omit<Options_, 'upstream' | 'bot' | 'key' | 'alert' | 'log'> {
    upstream: Options_['upstream'] & {
        proxy: ProxySettings;
    };
    key: Omit<Options_['key'], 'passphrase' | 'passphraseFile'>;
    alert: Omit<Options_['alert'], 'url' | 'urlFile'>;
    log: Omit<Options_['log'], 'pretty'> & {
        pretty: boolean;
    };
}
/** What must never be printed. `clientToken` null: the bot presents the service's own token. */
export interface Secrets {
    botToken: SecretSource;
    clientToken: SecretSource | null;
    passphrase: SecretSource | null;
    /** Where alerts are POSTed to. */
    alertUrl?: SecretSource;
    /** Commands for a person that make a passphrase file outside `dataDir`. */
    howToMakePassphrase?: string;
}
/** One row of the table of settings. */
export interface Setting extends About {
    /** As in the file, dotted: `upstream.allowHttp`. */
    path: string;
    /** `POSTERN_UPSTREAM_ALLOW_HTTP` */
    env: string;
    /** `upstream-allow-http`, or null: secrets are no flags, since every process sees them. */
    flag: string | null;
    meaning: string;
    /** Undefined when there is none. */
    preset: unknown;
    schema: z.ZodType;
}
/** Every setting, in the order of the schema. */
export declare const SETTINGS: readonly Setting[];
/** The default of a setting, undefined when it has none. */
export declare function presetOf(path: string): unknown;
/**
 * Fills in defaults: what tests and the demo make settings with.
 * @param options what a settings file could hold, secrets ignored
 * @throws ZodError when a setting is wrong
 */
export declare function settingsFrom(options: z.input<typeof Options>, surroundings?: {
    proxy?: ProxySettings;
    pretty?: boolean;
}): Settings;
export {};
