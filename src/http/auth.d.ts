/**
 * Lets a request through when it presents the token (spec, Authentication 1 and 3).
 * Compared in constant time, over as many octets whatever the tokens are, so that neither content
 * nor length of the expected one shows.
 * @param expected what must be presented; asked anew for each request, since its file may change
 * @throws Refusal `unauthorized`, or `bad_request` when there are several Authorization lines
 */
export declare function requireBearer(rawHeaders: readonly string[], expected: string): void;
