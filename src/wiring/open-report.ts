import type { OpenReport } from '../control/reports.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { Engine } from '../pgp/engine.ts'

/**
 * Opens an armored message for the operator (`postern open`). There is no sender here whose
 * certificate could be asked for: only what we signed ourselves can be verified.
 */
export async function openReport(
  armored: string,
  { engine, keyring }: { engine: Engine; keyring: Keyring },
): Promise<OpenReport> {
  const opened = await engine.open(armored, keyring.unlocked)
  if (opened.outcome !== 'opened') {
    const reason = 'reason' in opened ? opened.reason : undefined
    const verdict = opened.outcome === 'not-encrypted' ? 'damaged' : opened.outcome
    return { opened: false, verdict, reason: reason ?? opened.outcome }
  }
  const { text } = opened
  if (opened.signatures.length === 0) return { opened: true, text, verdict: 'unsigned' }
  for (const { certificate, fingerprint } of keyring.all) {
    const results = await engine.verify(opened.signed, certificate, Date.now())
    if (results.includes('valid')) {
      return { opened: true, text, verdict: 'verified', signer: fingerprint }
    }
  }
  const issuer = opened.signatures[0]?.issuerKeyId ?? 'nobody'
  return { opened: true, text, verdict: 'unknown-signer', reason: `signed by key ${issuer}` }
}
