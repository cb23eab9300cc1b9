import type { NotOpened, OpenedFile } from '../engine.ts';
import { ByteReader } from '../format/byte-reader.ts';
import type { ScannedRecipients, OwnIds } from '../format/recipient-scan.ts';
import type { FoundKey, FoundPackets } from '../library/open.ts';
import type { Room } from './raw-file.ts';
/** What is done elsewhere, in threads that may be killed; each gives up with null or nothing. */
export interface FileOpeningHelpers {
    unwrap(addressed: ScannedRecipients): Promise<FoundKey[]>;
    openWhole(recipientPackets: Uint8Array[], container: Uint8Array): Promise<FoundPackets | null>;
    unpackWhole(packet: Uint8Array): Promise<Uint8Array | 'too-large' | null>;
}
export interface FileOpeningOptions extends FileOpeningHelpers {
    form: 'binary' | 'armored';
    own: OwnIds;
    room: Room;
}
/**
 * Reads an attachment, puts its document to rest and proves it: version 1 with the platform's
 * ciphers in one pass whatever the size, everything else by the library up to a bound.
 * Everything cryptographic that fails is `damaged` with one reason.
 */
export declare function openFileStream(reader: ByteReader, options: FileOpeningOptions): Promise<OpenedFile | NotOpened>;
