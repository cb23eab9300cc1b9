/**
 * What goes over the control socket: HTTP, `POST /<operation>` with its input as JSON. The answer is
 * `{result}` or `{error}`, with the version of the sidecar in a header. Errors cross as code,
 * message and hint, and come out as the error they were.
 */
import { z } from 'zod';
import { PosternError } from '../errors.ts';
/** Room for 1 MiB of armored text with its line breaks escaped. */
export declare const MAX_REQUEST_BYTES: number;
/** A bot knows many chats. */
export declare const MAX_ANSWER_BYTES: number;
/** `postern open` takes this much. */
export declare const MAX_ARMORED_BYTES: number;
/** Names below `dataDir`: the socket, or where it is when that path would be too long. */
export declare const SOCKET_NAME = "control.sock";
export declare const POINTER_NAME = "control.path";
/** The version of Postern that answered. */
export declare const VERSION_HEADER = "postern-version";
/** True when a socket may be made at this path. */
export declare function fitsSocket(path: string): boolean;
declare const WireError: z.ZodObject<{
    code: z.ZodString;
    message: z.ZodString;
    hint: z.ZodOptional<z.ZodString>;
    status: z.ZodOptional<z.ZodInt>;
}, z.core.$strip>;
type WireError = z.infer<typeof WireError>;
/** The body of an answer. */
export declare const Reply: z.ZodUnion<readonly [z.ZodObject<{
    error: z.ZodObject<{
        code: z.ZodString;
        message: z.ZodString;
        hint: z.ZodOptional<z.ZodString>;
        status: z.ZodOptional<z.ZodInt>;
    }, z.core.$strip>;
}, z.core.$strip>, z.ZodObject<{
    result: z.ZodUnknown;
}, z.core.$strip>]>;
export type Reply = z.infer<typeof Reply>;
/** Makes an error fit for the wire. Anything but a PosternError crosses without its message. */
export declare function toWireError(error: unknown): WireError;
/** The error that `toWireError` was given, less what does not cross: its cause and the raw answer. */
export declare function fromWireError({ code, message, hint, status }: WireError): PosternError;
export {};
