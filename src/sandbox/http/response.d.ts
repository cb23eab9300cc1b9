import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallRecorder } from '../transcript.ts';
import type { World } from '../world.ts';
/** A response before it is sent. A test that plays a hostile service changes it in place. */
export interface OutgoingResponse {
    route: string;
    method: string;
    path: string;
    params: Record<string, string>;
    botId: number | undefined;
    /** The request's body, parsed. */
    request: unknown;
    status: number;
    headers: Record<string, string>;
    /** The envelope, parsed; set it to anything. */
    body: unknown;
}
/** Changes a response in place, once the request was handled. */
export type ResponseRewrite = (response: OutgoingResponse) => void;
interface ResponseCall {
    route: string;
    botId: number | undefined;
    record: CallRecorder;
    request: FastifyRequest;
    reply: FastifyReply;
    payload: unknown;
    rewrites: ReadonlySet<ResponseRewrite>;
}
/** Applies lies, rewrites and faults to a response, records it, and gives the payload to send. */
export declare function finishResponse(world: World, call: ResponseCall): unknown;
export {};
