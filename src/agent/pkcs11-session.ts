/** A session with a PKCS #11 token, through pkcs11js: keys on the Edwards curve and its Montgomery form. */
import { randomBytes } from 'node:crypto'
import { resultOr } from '../errors.ts'

/** An object of the token, for as long as the session lasts. */
export type ObjectHandle = Buffer

/** Constants of PKCS #11 3.0; pkcs11js lacks those of Edwards curves. */
const CKO = { public: 2, private: 3, secret: 4 }
const CKK = { generic: 0x10, edwards: 0x40 }
const CKA = {
  class: 0,
  token: 1,
  private: 2,
  label: 3,
  value: 0x11,
  keyType: 0x100,
  id: 0x102,
  sensitive: 0x103,
  sign: 0x108,
  verify: 0x10a,
  derive: 0x10c,
  valueBytes: 0x161,
  extractable: 0x162,
  curve: 0x180,
  point: 0x181,
}
const CKM = { ecdh: 0x1050, makeEdwards: 0x1055, eddsa: 0x1057 }
const CKF = { rw: 2, serial: 4, osLocking: 2 }
const CKU_USER = 1
/** `CK_ECDH1_DERIVE_PARAMS`, as pkcs11js numbers them: the shared secret as it is. */
const ECDH_PARAMETERS = { type: 6, kdf: 1 }
const ALREADY_INITIALIZED = 0x191
const ALREADY_LOGGED_IN = 0x100
/** Object identifiers of the curves (RFC 8410, 3). */
const CURVE = { sign: Buffer.from('06032b6570', 'hex'), derive: Buffer.from('06032b656e', 'hex') }
const POINT_BYTES = 32
const OBJECTS_MAX = 1000

/** What a key is for: Ed25519 signs, X25519 derives shared secrets. */
export type KeyUse = keyof typeof CURVE

type ObjectAttributes = Partial<Record<keyof typeof CKA, Buffer | number | boolean | string>>

const template = (of: ObjectAttributes) =>
  Object.entries(of).map(([name, value]) => ({ type: CKA[name as keyof typeof CKA], value }))

export type Pkcs11Session = NonNullable<Awaited<ReturnType<typeof openSession>>>

/**
 * Loads a token's library and logs in. Calls reject or throw errors of pkcs11js, with the number of
 * a CKR as `code`.
 * @returns null where it has no token of that label
 * @throws an error with the code `ERR_MODULE_NOT_FOUND` where pkcs11js is not installed
 */
export async function openSession(o: { label: string; modulePath: string; pin: string }) {
  const loaded: typeof import('pkcs11js') & { default?: typeof import('pkcs11js') } =
    await import('pkcs11js')
  const module = new (loaded.default ?? loaded).PKCS11()
  module.load(o.modulePath)
  unlessAlready(ALREADY_INITIALIZED, () => module.C_Initialize({ flags: CKF.osLocking }))
  const isIt = (slot: Buffer): boolean => module.C_GetTokenInfo(slot).label.trim() === o.label
  const slot = module.C_GetSlotList(true).find(isIt)
  if (slot === undefined) return null
  const session = module.C_OpenSession(slot, CKF.serial | CKF.rw)
  try {
    unlessAlready(ALREADY_LOGGED_IN, () => module.C_Login(session, CKU_USER, o.pin))
  } catch (error) {
    module.C_CloseSession(session)
    throw error
  }

  const find = (of: ObjectAttributes): ObjectHandle[] => {
    module.C_FindObjectsInit(session, template(of))
    try {
      return module.C_FindObjects(session, OBJECTS_MAX)
    } finally {
      module.C_FindObjectsFinal(session)
    }
  }
  const valueOf = (object: ObjectHandle, name: keyof typeof CKA): Buffer => {
    const [found] = module.C_GetAttributeValue(session, object, [{ type: CKA[name] }])
    return found?.value ?? Buffer.alloc(0)
  }
  /** A point is an octet string in DER, or plain; of a key of another kind there may be none. */
  const pointOf = (object: ObjectHandle): Buffer =>
    resultOr(() => valueOf(object, 'point').subarray(-POINT_BYTES), Buffer.alloc(0))

  return {
    /** Sees that it lasts. */
    check: () => module.C_GetSessionInfo(session),
    close: () => module.C_CloseSession(session),
    /** The private key beside the public key with a point; undefined without one. */
    keyOf: (point: Uint8Array, use: KeyUse): ObjectHandle | undefined => {
      const wanted = Buffer.from(point)
      const at = find({ class: CKO.public }).find((one) => wanted.equals(pointOf(one)))
      if (at === undefined) return undefined
      return find({ class: CKO.private, id: valueOf(at, 'id'), [use]: true })[0]
    },
    /** The private key that signs under a label. */
    signerOf: (label: string) => find({ class: CKO.private, label, sign: true })[0],
    /** @returns 64 bytes of Ed25519 over these bytes */
    sign: async (key: ObjectHandle, digest: Uint8Array): Promise<Buffer> => {
      module.C_SignInit(session, { mechanism: CKM.eddsa }, key)
      return await module.C_SignAsync(session, Buffer.from(digest), Buffer.alloc(2 * POINT_BYTES))
    },
    /** @returns the shared secret of X25519, to be zeroed after use */
    agree: async (key: ObjectHandle, point: Buffer): Promise<Buffer> => {
      const parameter = { ...ECDH_PARAMETERS, publicData: point }
      const mechanism = { mechanism: CKM.ecdh, parameter }
      const shared = { sensitive: false, extractable: true, valueBytes: POINT_BYTES, token: false }
      const of = template({ class: CKO.secret, keyType: CKK.generic, ...shared })
      const derived = await module.C_DeriveKeyAsync(session, mechanism, key, of)
      try {
        return valueOf(derived, 'value')
      } finally {
        module.C_DestroyObject(session, derived)
      }
    },
    /** Makes a pair that stays in the token. */
    makePair: async (use: KeyUse) => {
      const pair = { token: true, id: randomBytes(16), keyType: CKK.edwards }
      const [sign, derive] = [use === 'sign', use === 'derive']
      const secret = { private: true, sensitive: true, extractable: false, sign, derive }
      const { publicKey, privateKey } = await module.C_GenerateKeyPairAsync(
        session,
        { mechanism: CKM.makeEdwards },
        template({ ...pair, verify: sign, derive, class: CKO.public, curve: CURVE[use] }),
        template({ ...pair, ...secret, class: CKO.private }),
      )
      return { point: pointOf(publicKey), key: privateKey, both: [publicKey, privateKey] }
    },
    label: (objects: readonly ObjectHandle[], label: string): void => {
      for (const one of objects) module.C_SetAttributeValue(session, one, template({ label }))
    },
  }
}

/** The number of a CKR in an error; 0 where there is none. */
export const ckrOf = (error: unknown): number => Number((error as { code?: unknown }).code) || 0

function unlessAlready(code: number, run: () => void): void {
  try {
    run()
  } catch (error) {
    if (ckrOf(error) !== code) throw error
  }
}
