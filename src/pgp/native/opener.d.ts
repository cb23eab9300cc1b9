import type { Opened, UnlockedKey } from '../engine.ts';
import { type OwnIds, type EncryptedMessage } from '../format/encrypted-message.ts';
import type { NativeOwnKeys } from './own-keys.ts';
/** A message that somebody wants to read. */
export interface OpenRequest {
    armored: string;
    keys: UnlockedKey[];
    ids: OwnIds;
    signal: AbortSignal | undefined;
}
/** What became of it; as it was parsed where it is the library's to open. */
export type OpenResult = Opened | EncryptedMessage;
export declare class MessageOpener {
    #private;
    /** @param isNative false when everything is the library's to open */
    constructor(own: NativeOwnKeys, isNative: () => boolean);
    /** Whether anything is being opened, waits for its turn, or was just opened beside others. */
    get isBusy(): boolean;
    /** Opens one when its turn has come; in the order in which they were asked for. */
    open(message: OpenRequest): Promise<OpenResult>;
}
