/** A line of the doctor's (`postern check`). */
export interface Finding {
    name: string;
    level: 'pass' | 'warn' | 'fail';
    message: string;
    hint?: string;
}
export declare const pass: (name: string, message: string) => Finding;
export declare const warn: (name: string, message: string, hint: string) => Finding;
export declare const fail: (name: string, message: string, hint: string) => Finding;
