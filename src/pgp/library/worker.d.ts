/** The thread in which openpgp.js runs: one job at a time, and it may be killed in any of them. */
import './brainpool.ts';
import { adopt } from './adopt.ts';
import { describeOwnKey } from './certificate-info.ts';
import { judgeFully } from './certificate.ts';
import { open, openWhole, unpackWhole, unwrap } from './open.ts';
import { allListAes256, recipientPackets, seal } from './seal.ts';
import { generate, relock, unlock } from './secret-key.ts';
import { verify } from './verify.ts';
declare const JOBS: {
    generate: typeof generate;
    unlock: typeof unlock;
    relock: typeof relock;
    adopt: typeof adopt;
    judge: typeof judgeFully;
    seal: typeof seal;
    open: typeof open;
    verify: typeof verify;
    unwrap: typeof unwrap;
    openWhole: typeof openWhole;
    unpackWhole: typeof unpackWhole;
    describeOwnKey: typeof describeOwnKey;
    recipientPackets: typeof recipientPackets;
    allListAes256: typeof allListAes256;
};
/** What the threads do, by name; arguments and results are structured clones. */
export type Jobs = typeof JOBS;
export {};
