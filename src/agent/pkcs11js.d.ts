/** The used part of pkcs11js 2, which is optional: its own types may not be installed. */
declare module 'pkcs11js' {
  type Handle = Buffer

  interface Attribute {
    type: number
    value?: Buffer | number | boolean | string
  }

  interface Mechanism {
    mechanism: number
    parameter?: { type: number; kdf: number; publicData: Buffer } | null
  }

  /** Methods of PKCS #11 by their names (PKCS #11 3.0, 5); errors have the number of a CKR as `code`. */
  export class PKCS11 {
    load(path: string): void
    C_Initialize(options?: { flags?: number }): void
    C_GetSlotList(tokenPresent: boolean): Handle[]
    C_GetTokenInfo(slot: Handle): { label: string }
    C_OpenSession(slot: Handle, flags: number): Handle
    C_CloseSession(session: Handle): void
    C_GetSessionInfo(session: Handle): object
    C_Login(session: Handle, user: number, pin: string): void
    C_FindObjectsInit(session: Handle, template: Attribute[]): void
    C_FindObjects(session: Handle, max: number): Handle[]
    C_FindObjectsFinal(session: Handle): void
    C_GetAttributeValue(session: Handle, object: Handle, of: Attribute[]): { value: Buffer }[]
    C_SetAttributeValue(session: Handle, object: Handle, to: Attribute[]): void
    C_DestroyObject(session: Handle, object: Handle): void
    C_SignInit(session: Handle, mechanism: Mechanism, key: Handle): void
    C_SignAsync(session: Handle, data: Buffer, into: Buffer): Promise<Buffer>
    C_DeriveKeyAsync(
      session: Handle,
      mechanism: Mechanism,
      key: Handle,
      template: Attribute[],
    ): Promise<Handle>
    C_GenerateKeyPairAsync(
      session: Handle,
      mechanism: Mechanism,
      publicTemplate: Attribute[],
      privateTemplate: Attribute[],
    ): Promise<{ publicKey: Handle; privateKey: Handle }>
  }
}
