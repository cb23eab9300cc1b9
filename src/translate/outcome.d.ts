import type { Outcome } from '../chats/outcomes.ts';
import type { Judgeable } from './batch.ts';
import type { Finding } from './examine.ts';
import { type Verdict, type VerifyPolicy } from './verdict.ts';
/**
 * What is remembered of a Message once its finding was written into it: who, where, what was
 * found, never what it says.
 */
export declare function outcomeOf({ found, ms, updateId }: Judgeable & {
    updateId: number;
}, judged: {
    verdict: Verdict;
    finding: Finding;
    verify: VerifyPolicy;
}): Outcome;
