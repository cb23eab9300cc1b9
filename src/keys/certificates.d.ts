import type { Engine, CertificateStatus } from '../pgp/engine.ts';
import type { Store } from '../store/store.ts';
import type { Journal } from './journal.ts';
export interface CertificatesOptions {
    /** Instead of `MOST_WHOLE` and `MOST_REVOKED`. */
    maxWhole?: number;
    maxRevoked?: number;
}
/**
 * Certificates, judged by the engine, which remembers them, and merged with what is known: a
 * revocation once seen sticks, across restarts.
 */
export declare class Certificates {
    #private;
    private constructor();
    static load(engine: Engine, store: Store, options?: CertificatesOptions): Promise<Certificates>;
    /**
     * What an armored certificate is now. `unusable` takes the time into account.
     * @throws Error when the engine is gone
     */
    judge(armored: string): Promise<CertificateStatus>;
    /**
     * Remembers the revocations of a certificate.
     * @param made who revoked it, and where that is written down
     * @throws Refusal `postern_store_unwritable`
     */
    rememberRevoked(judgement: CertificateStatus, made: {
        userId: number;
        journal: Journal;
    }): Promise<void>;
}
