import type { World } from '../world.ts';
/**
 * Checks a webhook URL: https, no credentials, no fragment, and every address of its host public.
 * Under the rule `local`, http and any address are accepted too.
 * @throws SandboxApiError `bad_webhook`
 */
export declare function requireWebhookUrl(world: World, url: string): Promise<void>;
/** The addresses of a URL's host, or null when there are none or one of them is not allowed. */
export declare function addressesOf(world: World, url: string): Promise<string[] | null>;
