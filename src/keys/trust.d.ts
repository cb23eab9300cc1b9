import type { Store } from '../store/store.ts';
import { type Listing } from './claims.ts';
import type { Journal } from './journal.ts';
import type { People } from './people.ts';
import { type Pin } from './pins.ts';
import { Policies, type TrustPolicy } from './policies.ts';
/** Why a person is neither sealed to nor believed until the operator speaks. */
export type Distrust = 'blocked' | 'key-changed' | 'not-accepted';
export interface TrustParts {
    store: Store;
    journal: Journal;
    people: People;
    /** Setting `trust.policy`. */
    policy: TrustPolicy;
    /** `MOST_PEOPLE` when not given. */
    maxPeople?: number;
    /** Called when somebody was one too many to be remembered. */
    onFull?: () => void;
}
/**
 * How many people are remembered. Forgetting one would loosen what is known of them, so beyond
 * these nobody new is learned: nothing is sealed to them, and nothing of theirs is verified.
 */
export declare const MOST_PEOPLE = 250000;
export declare class Trust {
    #private;
    readonly policies: Policies;
    private constructor();
    static load(parts: TrustParts): Promise<Trust>;
    /** Another number whenever something here may be said otherwise than before. */
    get epoch(): number;
    /** Everybody whom we know, by person. */
    get all(): Pin[];
    /**
     * Whether a person's certificate may be used in a chat; null when it may. A verified person
     * whose key changed never is, whatever the policy.
     */
    distrust(userId: number, fingerprint: string | null, chatId: number): Distrust | null;
    isBlocked(userId: number): boolean;
    /**
     * Whether a certificate is disputed: several people are listed with it, and the operator has not
     * said whose it is. Neither being listed first nor a signature says so.
     */
    isShared(fingerprint: string): boolean;
    /** Who else is listed with a person's certificate while it is disputed, by id. */
    sharersOf({ userId, listed }: Pin): number[];
    /** Whether anything is remembered of a person; of one too many nothing can be. */
    isRemembered(userId: number): boolean;
    /** Whether the operator has compared the fingerprint with the person's own word. */
    isVerified(userId: number): boolean;
    /**
     * The service lists these certificates, or none for somebody: the first of a person is pinned, a
     * change is written down and told, and so is a certificate that several are listed with. All of
     * it in one write.
     * @throws Refusal `postern_store_unwritable`
     */
    saw(listed: readonly Listing[]): Promise<void>;
    /**
     * The operator takes a person's certificate as the service lists it now, and lets them begin
     * anew: what they were known to sign is forgotten. The certificate is theirs alone.
     * @param fingerprint what the operator looked at; absent: whatever is listed
     * @returns the pin as it stands now
     * @throws OperatorError `refused` for somebody never seen, or when another one is listed by now
     */
    accept(userId: number, fingerprint?: string): Promise<Pin>;
    /**
     * The operator has compared a fingerprint with the person's own word: they are sealed to under
     * this one alone, from now on, and it is theirs alone. What they must sign, they must go on
     * signing.
     * @param fingerprint 40 hexadecimal characters; blanks between and either case are fine
     * @throws OperatorError `usage` when it is none
     */
    verify(userId: number, fingerprint: string): Promise<Pin>;
    /** Nothing is sealed to a person, and nothing believed of them, until accepted or verified. */
    block(userId: number): Promise<Pin>;
}
