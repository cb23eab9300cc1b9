import type { Verdict } from '../translate/verdict.ts';
/** What each verdict means, and what an operator can do; for `postern explain`. */
export declare const VERDICT_DESCRIPTIONS: Readonly<Record<Verdict, {
    what: string;
    hint: string;
}>>;
/** What a reason beside a verdict means, and what an operator can do, where it says more than that. */
export declare const REASON_DESCRIPTIONS: Readonly<Record<string, {
    what: string;
    hint: string;
}>>;
