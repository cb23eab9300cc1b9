/**
 * The thread in which openpgp.js runs: one job at a time, and it may be killed in any of them. Native
 * code is loaded only by the two jobs that it asks for.
 */
import { workerData } from 'node:worker_threads'
import type { UnlockedKey } from '../engine.ts'
import { serve } from '../pool.ts'
import { adopt } from './adopt.ts'
import { certifications } from './certifications.ts'
import { judge } from './certificate.ts'
import { compareOpened, compareSealed, compareVerified } from './check.ts'
import { open, openWhole, unpackWhole, unwrap } from './open.ts'
import { applyProfile } from './profile.ts'
import { allListAes256, recipientPackets, seal } from './seal.ts'
import { certifyCertificate, generate, relock, unlock } from './secret-key.ts'
import { acceptWeakHash } from './signature.ts'
import { readKeyring, readSigned, signText } from './statements.ts'
import { verify } from './verify.ts'
import type { CheckedCertificate } from '../certificate-statuses.ts'
import type { OwnKeyInfo } from '../certificate-info.ts'

/** The jobs of the threads, by name; arguments and results are structured clones. */
export const JOBS = {
  generate,
  unlock,
  relock,
  adopt,
  certifyCertificate,
  /** @param isForNative with the info for native code */
  async judge(
    armored: string,
    atMs: number,
    known?: string,
    isForNative?: boolean,
  ): Promise<CheckedCertificate> {
    if (isForNative !== true) return { status: await judge(armored, atMs, known), info: null }
    const { judgeFully } = await import('./certificate-info.ts')
    return await judgeFully(armored, atMs, known)
  },
  certifications,
  seal,
  open,
  verify,
  signText,
  readSigned,
  readKeyring,
  unwrap,
  openWhole,
  unpackWhole,
  async describeOwnKey(key: UnlockedKey, atMs: number): Promise<OwnKeyInfo> {
    const native = await import('./certificate-info.ts')
    return await native.describeOwnKey(key, atMs)
  },
  recipientPackets,
  allListAes256,
  compareSealed,
  compareOpened,
  compareVerified,
}

export type Jobs = typeof JOBS

applyProfile()
acceptWeakHash((workerData as { acceptWeakHash?: string[] } | null)?.acceptWeakHash ?? [])
serve(JOBS)
