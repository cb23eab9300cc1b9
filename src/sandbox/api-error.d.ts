import { type BodyKind, type ErrorCode } from '../api/error.ts';
import { PosternError } from '../errors.ts';
/** Fields of the error object beside status, code and message. */
export interface ApiErrorDetails {
    expected?: BodyKind;
    /** Body, in seconds. */
    retryAfter?: number;
    /** `Retry-After` header, in seconds; differs from the body for `rate_limited`. */
    headerSeconds?: number;
}
/** An error of the API (spec, Errors). Rules throw it; the listener answers the error envelope. */
export declare class SandboxApiError extends PosternError {
    readonly code: ErrorCode;
    readonly status: number;
    readonly details: ApiErrorDetails;
    constructor(code: ErrorCode, message: string, details?: ApiErrorDetails);
}
/** Makes an `SandboxApiError` to throw. `message` must not quote what a person wrote. */
export declare function apiError(code: ErrorCode, message: string, details?: ApiErrorDetails): SandboxApiError;
/** The status, headers and body that answer an error. */
export declare function errorEnvelope(error: SandboxApiError): {
    status: number;
    headers: Record<string, string>;
    body: {
        ok: false;
        error: Record<string, unknown>;
    };
};
