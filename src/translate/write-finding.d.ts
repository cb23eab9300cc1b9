import type { Finding } from './examine.ts';
import { type Reasoned, type Verdict, type VerifyPolicy } from './verdict.ts';
/**
 * Changes a Message in place: opened text in the place of `armored`, or a verdict beside it.
 * @param how `settled` stands in the place of an opened message's own verdict
 * @returns the verdict, or null where none was needed
 */
export declare function writeFinding(message: Record<string, unknown>, finding: Finding, how: {
    settled: Reasoned | undefined;
    verify: VerifyPolicy;
    normalizeText: boolean;
}): Verdict | null;
