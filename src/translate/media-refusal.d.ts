import { Refusal } from '../errors.ts';
import type { Passing } from './passing.ts';
import type { Verdict } from './verdict.ts';
/**
 * Why an attachment is not given, as an answer. What may be otherwise soon says so.
 * @param reason a word of ours, @param passing why asking again may help
 */
export declare function refusalOf(verdict: Verdict, reason?: string, passing?: Passing): Refusal;
