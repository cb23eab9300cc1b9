/** Reading certificates of the common shape: a few here, many in threads. */
import type { CertificateInfo } from './certificate-info.ts';
import type { Threads } from './threads.ts';
/** Takes in what is asked for in one turn, and gives it out in pieces: threads need not wait. */
export declare class CertificateReader {
    #private;
    constructor(threads: Threads);
    /** What is read of a certificate; null when it is not of the common shape, or nobody is there. */
    read(armored: string): Promise<CertificateInfo | null>;
}
