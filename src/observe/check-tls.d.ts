import { type Finding } from './finding.ts';
/**
 * Shakes hands with the service once. Whether the certificate is trusted follows the same rules as
 * every call: its name, its dates, and the authorities of the system or of `ca`.
 * @param url base URL of the service
 * @param o `proxied`: the way goes through a proxy, which calls take and this look does not
 */
export declare function checkTls(url: string, o: {
    ca: string | undefined;
    proxied: boolean;
}): Promise<Finding>;
