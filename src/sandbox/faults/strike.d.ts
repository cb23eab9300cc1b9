import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ActiveFault } from './faults.ts';
/** A call that faults can strike. */
interface FaultyCall {
    request: FastifyRequest;
    reply: FastifyReply;
}
/** A call whose response body is ready to be sent. */
interface AnsweredCall extends FaultyCall {
    body: Buffer;
}
/** Lets faults strike a call that is not handled yet. Gives false when one of them ended it. */
export declare function strikeBefore(faults: ActiveFault[], call: FaultyCall): Promise<boolean>;
/** Lets faults strike a response. Takes its body, gives what to send. */
export declare function strikeAfter(faults: ActiveFault[], call: AnsweredCall): Buffer | Readable;
export {};
