import type { Operations } from './operations.ts';
/**
 * Connects to the sidecar that runs on a data directory.
 * @param dataDir absolute; need not exist
 * @param answerMs how long an answer may take (two minutes)
 * @returns its operations, or null when nobody listens; each rejects with the PosternError that the
 *   sidecar had, or OperatorError `failed` when it goes away or is of another version
 * @throws OperatorError `data-dir` when the socket is there and may not be used by this user, or is
 *   not the owner's alone: nothing was sent to it then
 */
export declare function connectControl(dataDir: string, answerMs?: number): Promise<(Operations & AsyncDisposable) | null>;
