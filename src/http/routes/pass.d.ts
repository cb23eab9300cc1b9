import type { FastifyInstance } from 'fastify';
import type { Upstream } from '../../upstream/client.ts';
/** What passing through needs to know. */
export interface PassParts {
    upstream: Upstream;
    /** False when the bot may publish a key of its own (`key.publish: false`). */
    managesKey: boolean;
    /** `routes.allowUnknown` */
    allowUnknown: boolean;
    /** Told after the service has burnt the token. */
    revoked: () => void;
}
/** Registers everything under the API's prefix that is not translated. */
export declare function passRoutes(app: FastifyInstance, parts: PassParts): void;
/** For parts of the API that a later version brings: never handed on sealed or unmanaged. */
export declare function refuseNotBuilt(): never;
