import { type KeyKind } from './keys.ts';
import { Phone } from './phone.ts';
import type { World } from '../world.ts';
/** People's phones. Each is made on first use, and the OpenPGP engine with the first of them. */
export declare class Phones {
    #private;
    constructor(world: World);
    /** Makes the phones whose keys are stored from an earlier run. */
    restore(): Promise<void>;
    /**
     * A person's phone. Making it generates and publishes the person's key.
     * @param kind of that key; ignored when the phone exists
     * @throws Error when nobody has the id
     */
    of(userId: number, kind?: KeyKind): Promise<Phone>;
    /** Generates and publishes a new key. The old one still opens what was sealed to it. */
    renew(userId: number, kind?: KeyKind): Promise<Phone>;
    [Symbol.asyncDispose](): Promise<void>;
}
