import type { Store } from '../store/store.ts';
/** A person with the keys that their certificate lists to be encrypted to. */
interface Listed {
    userId: number;
    judgement: {
        encryptionKeys: readonly string[];
    };
}
/** Whose keys messages are sealed to: which key ids people's certificates were ever seen to list. */
export declare class KnownKeys {
    #private;
    constructor(store: Store);
    /**
     * Remembers the keys of people whom the service lists.
     * @param source the list that they are from, by a name of its own
     * @throws Refusal `postern_store_unwritable`
     */
    saw(source: string, people: readonly Listed[]): Promise<void>;
    /**
     * Who was ever listed with each of these keys; a key that nobody was seen with is missing.
     * @param keyIds 16 lower-case hexadecimal characters each
     */
    ownersOf(keyIds: readonly string[]): Promise<Map<string, Set<number>>>;
}
/** The key id of a version 4 fingerprint (RFC 9580, 5.5.4.2). */
export declare function keyIdOf(fingerprint: string): string;
export {};
