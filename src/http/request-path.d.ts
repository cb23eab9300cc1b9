/**
 * What is wrong with a request target, before any routing (DESIGN, The local doors). What passes
 * means the same to every parser between us and the service.
 * @param target as it stood on the request line
 * @returns for people, without repeating the target; null when nothing is wrong
 */
export declare function pathProblem(target: string, maxChars: number): string | null;
