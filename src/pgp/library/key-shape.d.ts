import type { UnusableReason, UnfitReason } from '../engine.ts';
/**
 * Takes an armored text. Gives why it is no certificate that the library may parse, read off packet
 * headers and issuers alone, or null.
 */
export declare function shapeProblem(armored: string): UnusableReason | null;
/** Either what may be parsed, and whether it is locked, or why it is nothing for us. */
export type Shape = {
    bytes: Uint8Array;
    isLocked: boolean;
} | {
    unfit: UnfitReason;
};
/** Takes a file as it came: one armored block, or the binary form. Never throws. */
export declare function shapeOfSecret(file: Uint8Array): Shape;
