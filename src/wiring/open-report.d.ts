import type { OpenReport } from '../control/reports.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Engine } from '../pgp/engine.ts';
/**
 * Opens an armored message for the operator (`postern open`). There is no sender here whose
 * certificate could be asked for: only what we signed ourselves can be verified.
 */
export declare function openReport(armored: string, { engine, keyring }: {
    engine: Engine;
    keyring: Keyring;
}): Promise<OpenReport>;
