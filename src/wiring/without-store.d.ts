import { type Operations } from '../control/operations.ts';
import type { OperatorError } from '../errors.ts';
/** The operations where no store opens: each says why. */
export declare function refusing(problem: OperatorError): Operations;
