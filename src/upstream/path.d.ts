import { ENDPOINTS } from '../api/endpoints.ts';
/**
 * The last look at a path before it is sent: below the API prefix, encoded, perhaps with a query.
 * @throws Refusal `bad_request` for dot segments, empty segments, backslashes, escaped slashes,
 *   control characters, bad escapes, a fragment, or anything beyond ASCII
 */
export declare function checkPath(path: string): void;
/** True for calls that carry a body into `/messages`: those are the guard's, however spelt. */
export declare function isGuarded(method: string, path: string): boolean;
/** An endpoint of the spec. */
export type Endpoint = (typeof ENDPOINTS)[number];
/** Which endpoint of the spec a call is; null for one that the spec does not have. */
export declare function endpointOf(method: string, path: string): Endpoint | null;
/** A call's name for logs and metrics: few in all, and no identifier in any. */
export declare function routeOf(method: string, endpoint: Endpoint | null): string;
