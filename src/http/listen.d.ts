import type { FastifyInstance } from 'fastify';
/** Where to listen. `setting` is the group of settings that says so, for hints. */
export type ListenAt = {
    setting: 'listen' | 'admin';
    host: string;
    port: number;
} | {
    setting: 'listen';
    socket: string;
};
/**
 * Opens a door. Port 0 takes any free one. A unix socket is 0600 from the moment it exists; one
 * that a dead process left behind is replaced.
 * @returns what it really listens on: `http://host:port`, or `unix:/path`
 * @throws OperatorError `listen`
 */
export declare function listenAt(app: FastifyInstance, at: ListenAt): Promise<string>;
