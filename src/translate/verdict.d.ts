/** What opening established, and what is delivered for it (DESIGN: Opening). */
/** Every verdict, with whether its text reaches the bot under each setting of `open.verify`. */
export declare const VERDICTS: {
    readonly verified: {
        readonly flag: true;
        readonly require: true;
        readonly off: true;
    };
    readonly unsigned: {
        readonly flag: true;
        readonly require: false;
        readonly off: true;
    };
    readonly 'before-key': {
        readonly flag: true;
        readonly require: false;
        readonly off: true;
    };
    readonly 'unknown-signer': {
        readonly flag: false;
        readonly require: false;
        readonly off: true;
    };
    readonly 'signer-unavailable': {
        readonly flag: false;
        readonly require: false;
        readonly off: true;
    };
    readonly 'bad-signature': {
        readonly flag: false;
        readonly require: false;
        readonly off: true;
    };
    readonly replayed: {
        readonly flag: false;
        readonly require: false;
        readonly off: true;
    };
    readonly 'plaintext-in-protected': {
        readonly flag: false;
        readonly require: false;
        readonly off: true;
    };
    readonly 'not-recipient': {
        readonly flag: false;
        readonly require: false;
        readonly off: false;
    };
    readonly damaged: {
        readonly flag: false;
        readonly require: false;
        readonly off: false;
    };
    readonly 'too-large': {
        readonly flag: false;
        readonly require: false;
        readonly off: false;
    };
    readonly locked: {
        readonly flag: false;
        readonly require: false;
        readonly off: false;
    };
    readonly 'mode-unknown': {
        readonly flag: false;
        readonly require: false;
        readonly off: false;
    };
};
/** Setting `open.verify`. */
export type VerifyPolicy = 'flag' | 'require' | 'off';
export type Verdict = keyof typeof VERDICTS;
/** A verdict with a word of ours that says why. */
export interface Reasoned {
    verdict: Verdict;
    reason?: string;
}
/** Whether text with this verdict is given to the bot. */
export declare function delivers(verdict: Verdict, policy: VerifyPolicy): boolean;
