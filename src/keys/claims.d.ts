/** What a listing by the service changes of what is known of people. Values in, values out. */
import { type Pin, type Pins } from './pins.ts';
/** What the service lists for a person; null: no certificate that could be read. */
export interface Listing {
    userId: number;
    fingerprint: string | null;
}
/**
 * The pins that a listing changes: the first certificate of a person is pinned, any other one that
 * is listed is their claim from now on, and the claim before it is forgotten. Somebody listed with
 * two at once is left as they were: such a list is refused anyway.
 * @param o `room` is how many more people can be remembered
 * @returns `tooMany`: people of whom nothing could be remembered
 */
export declare function changedPins(listed: readonly Listing[], pins: Pick<Pins, 'get'>, { nowMs, room }: {
    nowMs: number;
    room: number;
}): {
    changed: Pin[];
    tooMany: number;
};
/** A certificate that several people are listed with. */
export interface Dispute {
    fingerprint: string;
    /** Everybody who is listed with it, by id. */
    people: number[];
}
/** The disputes that begin with these pins: those that were none before. */
export declare function newDisputes(changed: readonly Pin[], pins: Pick<Pins, 'claimsOn' | 'claimantsOf'>): Dispute[];
