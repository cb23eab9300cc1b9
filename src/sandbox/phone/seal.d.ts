import type { Engine, UnlockedKey } from '../../pgp/engine.ts';
import type { KeyKind } from '../../pgp/library/key-kinds.ts';
import type { FileForm } from '../../pgp/library/seal-file.ts';
/** A phone's own key. */
export interface PhoneIdentity {
    certificate: string;
    key: UnlockedKey;
    kind: KeyKind;
    /** Keys that it had before, newest first: they still open what was sealed to them. */
    former: UnlockedKey[];
}
/** How a file is sealed otherwise than usual. */
export interface FileSealingOptions {
    form?: FileForm | undefined;
    /** Whose key signs, instead of the phone's own. */
    signer?: UnlockedKey | undefined;
    /** Certificates of those who alone can open it, instead of all who should. */
    to?: string[] | undefined;
}
/** Seals for a phone: signs with its key and encrypts to the given certificates and its own. */
export declare class PhoneSealer {
    #private;
    /** The phone's own keys. */
    identity: PhoneIdentity;
    constructor(engine: Engine, identity: PhoneIdentity);
    /** Gives an armored message. Unusable certificates are left out. */
    sealText(text: string, certificates: string[]): Promise<string>;
    /** Gives the file as OpenPGP data. Unusable certificates are left out. */
    sealFile(file: Uint8Array, certificates: string[], { form, signer, to }?: FileSealingOptions): Promise<Uint8Array>;
}
