import type { UserKey } from '../api/user-key.ts';
import type { CertificateStatus, UnusableReason } from '../pgp/engine.ts';
import type { Certificates } from './certificates.ts';
import type { Journal } from './journal.ts';
import type { Trust } from './trust.ts';
/** Why a person cannot be sealed to; beyond what the certificate itself says. */
export type Unusable = UnusableReason | 'fingerprint-mismatch' | 'not-remembered';
/** A person with the certificate that the service lists for them. */
export interface Person {
    userId: number;
    /** Computed by us; null when nothing could be parsed. */
    fingerprint: string | null;
    /** Null when the certificate can be sealed to now. */
    unusable: Unusable | null;
    judgement: CertificateStatus;
}
export interface PersonParts {
    certificates: Certificates;
    trust: Trust;
    journal: Journal;
}
/** The armored certificate that the person's signatures are verified against, or null. */
export declare function signingCertificate(person: Person): string | null;
/**
 * Takes key records as `readUserKey` read them: computes each fingerprint, remembers who lists it
 * and what was revoked. A record whose own fingerprint is not its certificate's is no claim.
 * @throws Refusal `postern_store_unwritable`
 */
export declare function readPeople(records: UserKey[], parts: PersonParts): Promise<Person[]>;
