import type { Dispatcher } from 'undici';
import { type Failure } from './errors.ts';
/** Why an answer is of no use whatever its body says; null when it may be. */
export declare function refuse(status: number, headers: Dispatcher.ResponseData['headers']): Failure | null;
