export interface TargetRules {
    /** Setting `webhook.allowHosts`; null when it is not set. */
    allowHosts: readonly string[] | null;
    /** Gives every address of a host name, none when it has none; rejects when nobody could say. */
    resolve: (host: string) => Promise<string[]>;
}
/** A url whose host has been resolved: deliveries go to these addresses and nowhere else. */
export interface Target {
    url: URL;
    /** The host without brackets and closing dot. */
    host: string;
    /** At least one, in the order in which they are to be tried. */
    addresses: string[];
}
/**
 * Reads a webhook's url and finds out where it leads.
 * @param text as the bot gave it
 * @throws Refusal `bad_webhook` (spec, POST /webhook), saying what is wrong and never the url
 */
export declare function findTarget(text: string, rules: TargetRules): Promise<Target>;
/** The system's resolver. */
export declare function resolveHost(host: string): Promise<string[]>;
