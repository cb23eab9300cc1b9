/** `updates`: everything in it is judged; `other`: only the envelope is. */
export type AnswerKind = 'updates' | 'other';
/**
 * Takes out of a parsed answer, in place, what makes a second reading of it.
 * @param text of which it was parsed
 * @returns whether it is to be written anew: something was taken out, or a name stands twice in
 *   the text, of which we have read the last
 */
export declare function makeOneReading(answer: Record<string, unknown>, text: string, kind: AnswerKind): Promise<boolean>;
