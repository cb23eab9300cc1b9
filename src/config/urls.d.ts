/** True for localhost, 127.0.0.0/8 and ::1, with or without brackets. */
export declare function isLoopback(host: string): boolean;
/**
 * Says all that is wrong with a base URL (spec, paths: scheme and host), or null.
 * Plain http is judged elsewhere, for it depends on another setting.
 */
export declare function describeUrlProblem(text: string): string | null;
/** Says what is wrong with the URL of an egress proxy, or null. */
export declare function describeProxyProblem(text: string): string | null;
