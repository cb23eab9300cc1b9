import type { FastifyReply } from 'fastify';
import type { Envelope } from '../api/envelope.ts';
import type { RawAnswer } from '../errors.ts';
/** An answer with the name of its failure, as the upstream client or the error handler gives it. */
export type Relayed = RawAnswer & {
    code?: string;
    envelope?: Envelope;
};
/**
 * Answers with what somebody else said: status, headers and body byte for byte. Which headers may
 * be handed on was decided where the answer was made.
 */
export declare function relay(reply: FastifyReply, answer: Relayed): FastifyReply;
/** True when the caller hung up, so that there is nobody to answer. */
export declare function isGone(reply: FastifyReply): boolean;
/**
 * Aborts when the caller hangs up before the answer is out, and never otherwise. Fastify's own
 * `request.signal` does not serve: it aborts as soon as a body has been read.
 */
export declare function whileConnected(reply: FastifyReply): AbortSignal;
