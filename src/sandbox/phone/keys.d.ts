import type { Engine } from '../../pgp/engine.ts';
import type { KeyKind } from '../../pgp/library/key-kinds.ts';
import type { RecordKind } from '../persistence/persistence.ts';
import type { PhoneIdentity } from './seal.ts';
export type { KeyKind } from '../../pgp/library/key-kinds.ts';
/** Kinds of key that a phone can have; the first is what phones usually make. */
export declare const PHONE_KEYS: readonly ["curve25519", "x25519", "p256", "rsa3072", "expired", "revoked", "sign-only", "v6"];
/** A key for a new phone. `name` becomes its OpenPGP user id. */
export declare function newIdentity(engine: Engine, { name, kind }: {
    name: string;
    kind: KeyKind;
}): Promise<PhoneIdentity>;
/** Returns a key of the usual kind to the pool, for the next phone of that name. */
export declare function returnToPool(name: string, { kind, ...identity }: PhoneIdentity): void;
/** How a phone's keys are stored: unlocked, since only the file's owner can read it. */
export declare const IDENTITY_KIND: RecordKind<PhoneIdentity>;
