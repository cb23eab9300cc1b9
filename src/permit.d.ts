/**
 * What the guard lets out: the only thing that the upstream client takes for a send or an edit
 * (DESIGN: The guard). `translate/guard.ts` alone issues permits; a test keeps it so.
 */
/** Where a body goes. */
export interface Target {
    /** `send` is POST /messages, `edit` is PATCH /messages/{id}. */
    route: 'send' | 'edit';
    /** Path below the API prefix, encoded. */
    path: string;
}
declare class Permit {
    #private;
    readonly route: Target['route'];
    readonly path: string;
    /** The request body, JSON, as it will stand on the wire; the same bytes on every retry. */
    readonly body: Buffer;
    /** Asked before every attempt: false once something was learned that forbids it. */
    readonly mayLeave: () => boolean;
    constructor(target: Target, body: Buffer, mayLeave: () => boolean);
    static isReal(value: unknown): boolean;
}
/** A send or an edit that the guard let through. */
export type Outbound = Permit;
/** Issues a permit. For the guard alone. */
export declare function issuePermit(target: Target, body: Buffer, mayLeave?: () => boolean): Outbound;
/** True when the guard issued it; the upstream client asks before it sends. */
export declare const isOutbound: (value: unknown) => value is Outbound;
export {};
