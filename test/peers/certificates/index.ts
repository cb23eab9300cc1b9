/** Certificates of many shapes: what owners make, by many programs and over many years. */
import { primary, signedBy, type Shape } from '../shape.ts'
import { algorithms } from './algorithms.ts'
import { expiries } from './expiries.ts'
import { flags } from './flags.ts'
import { framings, names, odd } from './names.ts'
import { numbers } from './numbers.ts'
import { revocations } from './revocations.ts'
import { selfSignatures } from './self-signatures.ts'
import { subkeys } from './subkeys.ts'

export const CERTIFICATES: Shape[] = [
  ...numbers,
  ...flags,
  ...expiries,
  ...revocations,
  ...names,
  ...odd,
  ...framings,
  ...selfSignatures,
  ...subkeys,
  ...algorithms,
].map(([name, certificate, signer = primary]) => ({
  group: 'certificate',
  name,
  certificate,
  message: signedBy(signer),
}))
