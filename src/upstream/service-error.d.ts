import type { ApiError } from '../api/error.ts';
import { ServiceError, type RawAnswer } from '../errors.ts';
/** The service's no as an error that keeps the answer as it came. */
export declare function serviceErrorOf(answer: RawAnswer, error: ApiError): ServiceError;
