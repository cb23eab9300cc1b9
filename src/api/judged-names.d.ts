/** Names on which something is decided, and what another parser would take for them. */
/**
 * A closed set of names. An impostor is a name that some parser reads as one of them or as
 * `postern`, which the service never says, without being it.
 */
export declare class JudgedNames {
    #private;
    constructor(names: readonly string[]);
    isImpostor(name: string): boolean;
}
export declare const ENVELOPE_NAMES: JudgedNames;
export declare const ERROR_NAMES: JudgedNames;
export declare const UPDATE_NAMES: JudgedNames;
export declare const RESULT_NAMES: JudgedNames;
/** Where nothing is judged: only our own name is kept free. */
export declare const OWN_NAME: JudgedNames;
/** True for an error code that only we give, however it is spelt. */
export declare function isOurCode(code: string): boolean;
