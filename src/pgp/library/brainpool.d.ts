/**
 * Takes a curve by its name in OpenSSL and a point. Gives the public key in DER (RFC 5480, 2).
 * @throws Error for a curve that is not in the profile
 */
export declare function generateDer(key: {
    curveName: string;
    publicKey: Uint8Array;
}): {
    publicKey: Buffer;
};
