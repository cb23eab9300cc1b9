/** A session with a PKCS #11 token, through pkcs11js: keys on the Edwards curve and its Montgomery form. */
import { randomBytes } from 'node:crypto'
import { resultOr } from '../errors.ts'

type Module = InstanceType<(typeof import('pkcs11js'))['PKCS11']>
/** An object of the token, for as long as the session lasts. */
export type ObjectHandle = Buffer

/** Constants of PKCS #11 3.0; pkcs11js lacks those of Edwards curves. */
export const CKO = { public: 2, private: 3, secret: 4 }
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

/** Calls reject or throw errors of pkcs11js, with the number of a CKR as `code`. */
export class Pkcs11Session {
  readonly #module: Module
  readonly #session: Buffer

  private constructor(module: Module, session: Buffer) {
    this.#module = module
    this.#session = session
  }

  /**
   * Loads a token's library and logs in.
   * @returns null where it has no token of that label
   * @throws an error with the code `ERR_MODULE_NOT_FOUND` where pkcs11js is not installed
   */
  static async open(o: {
    label: string
    modulePath: string
    pin: string
  }): Promise<Pkcs11Session | null> {
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
    return new Pkcs11Session(module, session)
  }

  /** Sees that it lasts. */
  check(): void {
    this.#module.C_GetSessionInfo(this.#session)
  }

  close(): void {
    this.#module.C_CloseSession(this.#session)
  }

  /** The private key beside the public key with a point; undefined without one. */
  keyOf(point: Uint8Array, use: KeyUse): ObjectHandle | undefined {
    const wanted = Buffer.from(point)
    const at = this.#find({ class: CKO.public }).find((one) => wanted.equals(this.#pointOf(one)))
    if (at === undefined) return undefined
    const id = this.#valueOf(at, 'id')
    return this.#find({ class: CKO.private, id, [use]: true })[0]
  }

  /** The private key that signs under a label. */
  signerOf(label: string): ObjectHandle | undefined {
    return this.#find({ class: CKO.private, label, sign: true })[0]
  }

  /** @returns 64 bytes of Ed25519 over these bytes */
  async sign(key: ObjectHandle, digest: Uint8Array): Promise<Buffer> {
    this.#module.C_SignInit(this.#session, { mechanism: CKM.eddsa }, key)
    const into = Buffer.alloc(2 * POINT_BYTES)
    return await this.#module.C_SignAsync(this.#session, Buffer.from(digest), into)
  }

  /** @returns the shared secret of X25519, to be zeroed after use */
  async agree(key: ObjectHandle, point: Buffer): Promise<Buffer> {
    const mechanism = { mechanism: CKM.ecdh, parameter: { ...ECDH_PARAMETERS, publicData: point } }
    const shared = { sensitive: false, extractable: true, valueBytes: POINT_BYTES, token: false }
    const of = template({ class: CKO.secret, keyType: CKK.generic, ...shared })
    const derived = await this.#module.C_DeriveKeyAsync(this.#session, mechanism, key, of)
    try {
      return this.#valueOf(derived, 'value')
    } finally {
      this.#module.C_DestroyObject(this.#session, derived)
    }
  }

  /** Makes a pair that stays in the token. */
  async makePair(use: KeyUse): Promise<{ point: Buffer; key: ObjectHandle; both: ObjectHandle[] }> {
    const pair = { token: true, id: randomBytes(16), keyType: CKK.edwards }
    const [sign, derive] = [use === 'sign', use === 'derive']
    const secret = { private: true, sensitive: true, extractable: false, sign, derive }
    const { publicKey, privateKey } = await this.#module.C_GenerateKeyPairAsync(
      this.#session,
      { mechanism: CKM.makeEdwards },
      template({ ...pair, verify: sign, derive, class: CKO.public, curve: CURVE[use] }),
      template({ ...pair, ...secret, class: CKO.private }),
    )
    return { point: this.#pointOf(publicKey), key: privateKey, both: [publicKey, privateKey] }
  }

  label(objects: readonly ObjectHandle[], label: string): void {
    for (const one of objects) {
      this.#module.C_SetAttributeValue(this.#session, one, template({ label }))
    }
  }

  #find(of: ObjectAttributes): ObjectHandle[] {
    this.#module.C_FindObjectsInit(this.#session, template(of))
    try {
      return this.#module.C_FindObjects(this.#session, OBJECTS_MAX)
    } finally {
      this.#module.C_FindObjectsFinal(this.#session)
    }
  }

  #valueOf(object: ObjectHandle, name: keyof typeof CKA): Buffer {
    const [found] = this.#module.C_GetAttributeValue(this.#session, object, [{ type: CKA[name] }])
    return found?.value ?? Buffer.alloc(0)
  }

  /** A point is an octet string in DER, or plain; of a key of another kind there may be none. */
  #pointOf(object: ObjectHandle): Buffer {
    return resultOr(() => this.#valueOf(object, 'point').subarray(-POINT_BYTES), Buffer.alloc(0))
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
