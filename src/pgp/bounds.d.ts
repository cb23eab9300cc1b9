/** What is ever read, bounded; what the library is held to stands in the profile. */
/** Bounds of our own, in bytes or counts unless the name says otherwise. */
export declare const BOUNDS: {
    /** Characters of an armored message (`armoredMax` of the service). */
    readonly messageChars: 131072;
    /** Characters of an armored certificate (`publicKey` of the service). */
    readonly certificateChars: 65536;
    /** Bytes of a secret key that is imported, armored or not. */
    readonly secretKeyBytes: 131072;
    /** Recipient packets in one message: more than `messageChars` can hold. */
    readonly recipientPackets: 4096;
    /** Packets of one certificate, all kinds together. */
    readonly certificatePackets: 512;
    /** User ids of one certificate. */
    readonly certificateUserIds: 64;
    /** Signatures by the certificate’s own key on one of its parts; each costs a verification. */
    readonly selfSignatures: 16;
    /** The same on all of its parts together. */
    readonly allSelfSignatures: 128;
    /** Recipient packets that name one of our keys and are tried. */
    readonly namedAttempts: 8;
    /** Anonymous recipient packets that are tried. */
    readonly anonymousPackets: 4;
    /** Anonymous packets times own keys. */
    readonly anonymousAttempts: 32;
    /** A partial chunk that is not the last (RFC 9580, 4.2.1.4 demands 512 of the first). */
    readonly partialChunkMin: 512;
    readonly partialChunks: 65536;
    /** Opened text, and whatever decompresses on the way to it. */
    readonly textBytes: 262144;
    readonly signatures: 4;
    /** An opened attachment (`mediaMaxBytes`), and whatever decompresses on the way to it. */
    readonly attachmentBytes: number;
    /** The same as it is stored: padding, recipients and framing come on top. */
    readonly storedAttachmentBytes: number;
    /** An attachment in a form that only the library reads, which needs all of it at once. */
    readonly libraryAttachmentBytes: number;
    /** One recipient packet of an attachment; the largest key there is makes 2 KB. */
    readonly recipientPacketBytes: 16384;
    /** Signatures and their one-pass packets of an attachment, each. */
    readonly signaturePacketBytes: 65536;
    /** How far ahead of our clock a signature or certificate may be dated. */
    readonly clockToleranceMs: 300000;
    readonly rsaBitsMax: 4096;
};
