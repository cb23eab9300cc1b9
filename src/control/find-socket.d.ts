import type { Socket } from 'node:net';
/**
 * The socket of a sidecar on this data directory, which may be dead; null when there is none.
 * @throws OperatorError `data-dir` when what is there is not the owner's alone: it must not be
 *   connected to; an error of node:fs
 */
export declare function findSocket(dataDir: string): string | null;
/**
 * Connects to a socket that `findSocket` gave.
 * @returns null when nobody listens: the file is gone, or its process is
 * @throws the system's error when something else is wrong, such as EACCES
 */
export declare function connectSocket(path: string): Promise<Socket | null>;
